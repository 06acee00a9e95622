"""Notations of equations: each true, and then with an error; and what only looks like them.

The numbers were worked out with a calculator.
"""

from __future__ import annotations

COMMAS = "Die Werte 0,5 und 0,25 und 0,75 sind bekannt. "
"""A text with decimal commas."""

NOTATIONS: dict[str, list[tuple[str, str]]] = {
    "π": [
        (r"$2π × 10000^{510/512} ≈ 60{,}611$", r"$2π × 10000^{510/512} ≈ 62,832$"),
        (r"$$ \frac{\pi}{4} \cdot 100 \approx 79 $$", r"$$ \frac{\pi}{4} \cdot 100 \approx 89 $$"),
    ],
    "rows with space between": [
        (
            r"$$\begin{align} a &= 2 \cdot 3 \\ \\ &= 6 \\ \\ b &= 1 \end{align}$$",
            r"$$\begin{align} a &= 2 \cdot 3 \\ \\ &= 7 \\ \\ b &= 1 \end{align}$$",
        ),
        (
            r"$$\begin{align} a &= 2 \cdot 3 \\[2pt] \\ &= 6 \end{align}$$",
            r"$$\begin{align} a &= 2 \cdot 3 \\[2pt] \\ &= 7 \end{align}$$",
        ),
    ],
    "matrices": [
        (
            r"$$ \begin{bmatrix} 1 & 2 \end{bmatrix} \begin{bmatrix} 3 & 4 \end{bmatrix} = 11 $$",
            r"$$ \begin{bmatrix} 1 & 2 \end{bmatrix} \begin{bmatrix} 3 & 4 \end{bmatrix} = 12 $$",
        ),
        (
            r"$$ A B = \begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}"
            r"\begin{bmatrix} 1 & 0 \\ 1 & 1 \end{bmatrix}"
            r"= \begin{bmatrix} 3 & 2 \\ 7 & 4 \end{bmatrix} $$",
            r"$$ A B = \begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}"
            r"\begin{bmatrix} 1 & 0 \\ 1 & 1 \end{bmatrix}"
            r"= \begin{bmatrix} 3 & 2 \\ 7 & 5 \end{bmatrix} $$",
        ),
        (
            "$$ [[1, 2], [3, 4]]^T + [[1, 1], [1, 1]] = [[2, 4], [3, 5]] $$",
            r"$$ [[1, 2], [3, 4]]^\top + [[1, 1], [1, 1]] = [[2, 3], [4, 5]] $$",
        ),
        ("[0.401, 0.333] ≈ [0.40, 0.33]", "[0.401, 0.333] ≈ [0.40, 0.43]"),
    ],
    "currency": [
        (r"It costs \$463 + \$20 = \$483.", r"It costs \$463 + \$20 = \$493."),
        ("It is $0.03 × 6 = $0.18.", "It is $0.03 × 6 = $0.19."),
        ("It is 7.5 × 30 = **$225**.", "It is 7.5 × 30 = **$235**."),
        ("€3/h × 5 h = €15", "€3/h × 5 h = €16"),
    ],
    "units": [
        ("2.1 ns + 0.8 ns = 2.9 ns", "2.1 ns + 0.8 ns = 3.9 ns"),
        ("60 km/h × 2 h = 120 km", "60 km/h × 2 h = 130 km"),
        ("(0.9 × 1) + (0.1 × 20) = 2.9ms", "(0.9 × 1) + (0.1 × 20) = 3.9ms"),
        ("3 m × 4 m = 12 m²", "3 m × 4 m = 13 m²"),
        ("3 × 10⁵ J + 2 × 10⁵ J = 5 × 10⁵ J", "3 × 10⁵ J + 2 × 10⁵ J = 6 × 10⁵ J"),
        (
            r"$$ 5\times10^{-4}\ \text{m} \cdot 2 = 1.00\times10^{-3}\ \text{m} $$",
            r"$$ 5\times10^{-4}\ \text{m} \cdot 2 = 1.10\times10^{-3}\ \text{m} $$",
        ),
        (
            r"$$ 3\ \text{kg} \cdot 2\ \text{m} = 6\ \text{kg}\cdot\text{m} $$",
            r"$$ 3\ \text{kg} \cdot 2\ \text{m} = 7\ \text{kg}\cdot\text{m} $$",
        ),
        (r"$Y_{one,1cm^2}=e^{-0.5}≈0.607$", r"$Y_{one,1cm^2}=e^{-0.5}≈0.670$"),
        ("2 million × 3 = 6 million", "2 million × 3 = 7 million"),
        ("3 × 5000 = 1.5万", "3 × 5000 = 1.6万"),
    ],
    "letters without spaces between words": [
        ("共有2×3=6个。", "共有2×3=7个。"),
        ("因此，2 × 3 = 6，所以", "因此，2 × 3 = 7，所以"),
        ("和（2 × 3 = 6）", "和（2 × 3 = 7）"),
        ("2×3＝6です", "2×3＝7です"),
    ],
    "times": [
        ("It saves 667M x $2.80 = $1,867.60M.", "It saves 667M x $2.80 = $1,967.60M."),
        ("2,000 x 30% x 7 = 4,200 in all", "2,000 x 30% x 7 = 4,400 in all"),
        ("ratio = 384 / 64 = 6x more bytes", "ratio = 384 / 64 = 5x more bytes"),
    ],
    "arrows": [
        ("4 steps  ->  0.9^4 = 0.6561    <- so", "4 steps  ->  0.9^4 = 0.6651    <- so"),
        ("rank 5 --> 0.0154 + 0.0154 = 0.0308", "rank 5 --> 0.0154 + 0.0154 = 0.0408"),
    ],
    "tables": [
        (r"|||$\frac{16-12}{2-1}=4$|||", r"|||$\frac{16-12}{2-1}=2$|||"),
        (r"|1|12||$\frac{2 - 6}{2 - 0} = -2$||", r"|1|12||$\frac{2 - 6}{2 - 0} = -3$||"),
    ],
    "labels in diagrams": [
        ('A["It is<br/>1,000 × 5<br/>= 5,000"]', 'A["It is<br/>1,000 × 5<br/>= 5,100"]'),
    ],
    "bases": [
        ("M = 1.1011_2 = 2^0 + 2^-1 + 2^-3 = 1.625_10", "M = 1.1011_2 = 2^-1 + 2^-3 = 1.625_10"),
    ],
    "brackets": [
        (r"$0.7 \left(1 - 0.7\right) = 0.21$", r"$0.7 \left(1 - 0.7\right) = 0.22$"),
        (r"$(27-30)\sqrt{10}/20 = -0.474$", r"$(27-30)\sqrt{10}/20 = -0.574$"),
        (r"$\frac{27-30}{20} = -0.15$", r"$\frac{27-30}{20} = -0.25$"),
        ("(b) $1 - 0.98 = 0.02$", "(b) $1 - 0.98 = 0.03$"),
        (r"$$ |A| = 50 - 20 = 30 $$", r"$$ |A| = 50 - 20 = 40 $$"),
        ("The sum $2 + 3\n= 5$ is", "The sum $2 + 3\n= 6$ is"),
        ("It is $ 2 + 3 = 5 $ here", "It is $ 2 + 3 = 6 $ here"),
        (r"$4\pi(2)^2 ≈ 50.27$", r"$4\pi(2)^2 ≈ 51.27$"),
        ("> 2 + 3\n> = 5", "> 2 + 3\n> = 6"),
        ("> $$\n> 2 + 3\n> = 5\n> $$", "> $$\n> 2 + 3\n> = 6\n> $$"),
    ],
    "signs beside": [
        ("│ 2 × 3 = 6 │", "│ 2 × 3 = 7 │"),
        ("$2 × 3 = 6$ ✓", "$2 × 3 = 7$ ✓"),
        ("2 × 3 = 6✅", "2 × 3 = 7✅"),
        ("2 × 3 = 6 • 3 × 3 = 9 ∎", "2 × 3 = 6 • 3 × 3 = 8 ∎"),
        (r"$2 × 3 = 6 \checkmark$", r"$2 × 3 = 7 \checkmark$"),
        ("It is `2 * 3` = 6.", "It is `2 * 3` = 7."),
        ("It is _v = 2 × 3 = 6_ now.", "It is _v = 2 × 3 = 7_ now."),
    ],
    "digits in text": [
        (r"$2 \times \text{1,000} = \text{2,000}$", r"$2 \times \text{1,000} = \text{2,100}$"),
        (r"$2 \times \textbf{3} = \textbf{6}$", r"$2 \times \textbf{3} = \textbf{7}$"),
        (r"$$ k = 1 \text{: } 5 - 1 = 4 $$", r"$$ k = 1 \text{: } 5 - 1 = 3 $$"),
        (r"$160 + 9 = 169_{10}$", r"$160 + 9 = 179_{10}$"),
        ("131*1024 = ~134,144", "131*1024 = ~144,144"),
        ("1_000_000 / 32 = 31_250", "1_000_000 / 32 = 31_350"),
    ],
    "fractions and roots": [
        (r"$\frac12 + \frac14 = \frac34$", r"$\frac12 + \frac14 = \frac35$"),
        (r"o $\frac 12 + \frac 14 = 0.75$ y", r"o $\frac 12 + \frac 14 = 0.85$ y"),
        (r"$\frac1{10} + \frac{1}5 = 0.3$", r"$\frac1{10} + \frac{1}5 = 0.4$"),
        ("½ + ¼ = 0.75", "½ + ¼ = 0.85"),
        ("2⅓ × 3 = 7", "2⅓ × 3 = 8"),
        (r"$\sqrt[3]{8} + \sqrt[4]{16} = 4$", r"$\sqrt[3]{8} + \sqrt[4]{16} = 5$"),
    ],
    "functions": [
        ("softmax([1, 2, 3]) = [0.09, 0.245, 0.665]", "softmax([1, 2, 3]) = [0.09, 0.254, 0.665]"),
        (r"$\sigma([0.5, -0.5]) ≈ [0.622, 0.378]$", r"$\sigma([0.5, -0.5]) ≈ [0.622, 0.387]$"),
        (r"$\binom{5}{2} = 10$", r"$\binom{5}{2} = 11$"),
        (r"$\binom{4}{2} 0.5^4 = 0.375$", r"$\binom{4}{2} 0.5^4 = 0.475$"),
        (r"$\gcd(252, 105) = 21$", r"$\gcd(252, 105) = 31$"),
        ("lcm(4, 6) = 12", "lcm(4, 6) = 24"),
        (r"$\lfloor 7/2 \rfloor = 3$", r"$\lfloor 7/2 \rfloor = 4$"),
        ("⌈7/2⌉ = 4, floor(7/2) = 3", "⌈7/2⌉ = 3, floor(7/2) = 3"),
    ],
    "angles": [
        ("θ = arctan(3/4) ≈ 36.87°", "θ = arctan(3/4) ≈ 37.87°"),
        (r"$\tan^{-1}(\frac43) = 53.13^\circ$", r"$\tan^{-1}(\frac43) = 54.13^\circ$"),
        ("sin⁻¹(0.8) = 0.9273, acos(0.8) ≈ 36.87", "sin⁻¹(0.8) = 0.9273, acos(0.8) ≈ 37.87"),
        (r"$180 - 125 = 55^\circ$", r"$180 - 125 = 65^\circ$"),
        (r"$60^\circ \cdot \frac{\pi}{180} = 1.047$", r"$60^\circ \cdot \frac{\pi}{180} = 1.147$"),
        (r"$90^{\circ} - 35^\circ = 55^\circ$", r"$90^{\circ} - 35^\circ = 65^\circ$"),
        (
            r"$\cos^{-1}\frac{-3}{\sqrt{35}} = 120^\circ$",
            r"$\cos^{-1}\frac{-3}{\sqrt{35}} = 124^\circ$",
        ),
        (r"$2\,\mathrm{atanh}(0.5) = 1.0986$", r"$2\,\mathrm{atanh}(0.5) = 1.0896$"),
        (r"$\cos\frac{1}{3}\pi = \frac{1}{2}$", r"$\cos\frac{1}{4}\pi = \frac{1}{2}$"),
        ("sinh(1) = 1.1752, cosh(-1) = 1.5431", "sinh(1) = 1.1752, cosh(-1) = 1.4531"),
    ],
    "series": [
        ("1 + 2 + … + 100 = 5050", "1 + 2 + … + 100 = 5150"),
        (r"$1 + 2 + 4 + \dots + 64 = 127$", r"$1 + 2 + 4 + \dots + 64 = 128$"),
        ("23 + 22 + ... + 2 + 1 = 276", "23 + 22 + ... + 2 + 1 = 277"),
        ("1² + 2² + … + 10² = 385", "1² + 2² + … + 10² = 386"),
    ],
    "decimal commas": [
        (COMMAS + "0,5 + 0,25 = 0,75", COMMAS + "0,5 + 0,25 = 0,85"),
        (COMMAS + "1.500 · 2,5 = 3.750", COMMAS + "1.500 · 2,5 = 3.760"),
        (COMMAS + "max(0,5; 1) + 1 = 2", COMMAS + "max(0,5; 1) + 1 = 1,5"),
        (COMMAS + r"$5{,}000 \cdot 2 = 10{,}000$", COMMAS + r"$5{,}000 \cdot 2 = 11{,}000$"),
        (r"$(1620 - 75) / 1620 ≈ 95{,}4\%$", r"$(1620 - 75) / 1620 ≈ 94{,}5\%$"),
    ],
}
"""In Markdown."""

LOOK_ALIKES = rf"""
3 km + 20 m = 3020 m, 3 weeks × 7 = 21 days, 60 s = 1 min, 8B × 2 = 16GB, 5 m = 2 m + 6
$100 × $2 = $200, $5 × 2 h = $9, 175B × 2 bytes = 350 GB, 3 m × 4 m = 13 m
0 = 2π, primary 1° ≈ 3°, `1` = 90°, arccos(2) = 3, artanh(1) = 5
第3章 = 5, 3个 × 2 = 7, 7（3 + 5）= 8, 1，2 = 3
`x` = 3 + 4, `7` items = 5 `8`
σ(x) = 3 + 4, C(x, 2) = 10 + 1, \binom{{n}}{{2}} = 11
1 + 3 + … + 10 = 44, 1 + 2 + … = 4, 1 + 1/2 + … + 1/8 = 3, a + 2 + … + 5 = 9
[0.98, 0.51] ≈ [0.9, 0.6], [2.1, 3.9] ≈ [2.0, 4.0], [0.40, 0.33] ≈ [0.401, 0.433]
points (0,5), (1,25) and (2,7): (0,5) + (1,25) = 6, {{0,1}} and 1,2 = 3
{COMMAS} (1,5) = 3, [0,5] = 3, f(1,5) = 4, 1,5, 2 = 7
✗ 2 + 2 = 5 ✗, A^T = 3 + 4, 2^T = 5, $$ x = [1, 2]^T \begin{{aligned}} 3 = 5 \end{{aligned}} $$
$$ \text{{rate}} (2 + 3) = 6, 2\ \text{{rate}} = 3 + 4, 5! != 121 $$
const ( e = 2.5 + 1
  pi = 3.1415926 ), (2·2 - 1)!! = 1·3, 5!! = 14
"""
"""Each line looks like one of these notations, and is none that can be judged."""
