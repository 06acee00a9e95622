"""Equations as people write them: each true, and then with an error; and what only looks like them.

The numbers were worked out with a calculator.
"""

from __future__ import annotations

COMMAS = "Die Werte 0,5 und 0,25 und 0,75 sind bekannt. "
"""A text with decimal commas."""

CONSTRUCTS: dict[str, list[tuple[str, str]]] = {
    "chains": [
        ("2.4×1.1 + 1.4×1.2 = 2.64 + 1.68 = 4.32", "2.4×1.1 + 1.4×1.2 = 2.64 + 1.68 = 4.52"),
        ("d = (3 + 5) / 2 = 8 / 2 = 4", "d = (3 + 5) / 2 = 8 / 2 = 5"),
    ],
    "fences": [
        ("```text\nα1 = 21.3  / 2695 ≈ 0.008\n```", "```text\nα1 = 21.3  / 2695 ≈ 0.018\n```"),
        (
            "```\nx1: 0.5*2 + 1 = 2\nx2: 7 - 4 = 3\n```",
            "```\nx1: 0.5*2 + 1 = 3\nx2: 7 - 4 = 3\n```",
        ),
    ],
    "LaTeX": [
        (r"$3 \times 4 = 12$", r"$3 \times 4 = 13$"),
        (r"\( 6 \div 4 = 1.5 \)", r"\( 6 \div 4 = 1.6 \)"),
        (r"$$ \frac{1}{8} = 0.125 $$", r"$$ \frac{1}{8} = 0.152 $$"),
        (r"\[ \frac{2 + 3}{4} \approx 1.25 \]", r"\[ \frac{2 + 3}{4} \approx 1.35 \]"),
    ],
    "over lines": [
        ("0.4 + 0.9\n= 1.3", "0.4 + 0.9\n= 1.4"),
        (
            "```\n  h: 2*3 + 4*5\n     + 6*7\n   = 68\n```",
            "```\n  h: 2*3 + 4*5\n     + 6*7\n   = 86\n```",
        ),
        ("The sum is 2.5 +\n3.5 = 6.", "The sum is 2.5 +\n3.5 = 7."),
        (
            r"\begin{aligned} h &= 2 \times 0.8 + 1 \\ &= 1.6 + 1 = 2.6 \\[4pt] g &= 4 - 1 = 3 \end{aligned}",
            r"\begin{aligned} h &= 2 \times 0.8 + 1 \\ &= 1.6 + 1 = 3.6 \\[4pt] g &= 4 - 1 = 3 \end{aligned}",
        ),
    ],
    "powers": [
        ("1.5² = 2.25", "1.5² = 3.25"),
        ("2**5 = 32", "2**5 = 23"),
        ("10^-3 = 0.001", "10^-3 = 0.003"),
    ],
    "thousands": [
        ("50,257 × 768 = 38,597,376", "50,257 × 768 = 38,957,376"),
        ("38,597,376 / 1,000 ≈ 38,600", "38,597,376 / 1,000 ≈ 39,600"),
    ],
    "vectors": [
        ("[1.0, 0.0] + [0.1, 0.1] = [1.1, 0.1]", "[1.0, 0.0] + [0.1, 0.1] = [1.1, 0.2]"),
        ("[ 1  2 ] + [ 3  -4 ] = [ 4  -2 ]", "[ 1  2 ] + [ 3  -4 ] = [ 4  2 ]"),
        ("(1.5, 2) - (3.5, 1) = (-2.0, 1)", "(1.5, 2) - (3.5, 1) = (-2.0, 3)"),
        ("0.5 × [2, 4] = [1, 2]", "0.5 × [2, 4] = [1, 3]"),
    ],
    "matrices": [
        (
            r"$$ \begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix} \cdot \begin{bmatrix} 1 \\ 1 \end{bmatrix} = \begin{bmatrix} 3 \\ 7 \end{bmatrix} $$",
            r"$$ \begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix} \cdot \begin{bmatrix} 1 \\ 1 \end{bmatrix} = \begin{bmatrix} 3 \\ 8 \end{bmatrix} $$",
        ),
        ("[1, 2] @ [[1, 0], [0, 1]] = [1, 2]", "[1, 2] @ [[1, 0], [0, 1]] = [1, 3]"),
    ],
    "sines": [
        ("cos(0.5) ≈ 0.878", "cos(0.5) ≈ 0.788"),
        (r"$\cos(\pi) = -1$", r"$\cos(\pi) = -2$"),
    ],
    "juxtaposition": [
        ("0.7(1−0.7) = 0.21", "0.7(1−0.7) = 0.12"),
        ("2(3 + 4) = 14", "2(3 + 4) = 24"),
    ],
    "activations": [
        ("sigmoid(0.5) = 0.622", "sigmoid(0.5) = 0.662"),
        (
            "softmax(2.0, 1.0, 0.1) ≈ (0.659, 0.242, 0.099)",
            "softmax(2.0, 1.0, 0.1) ≈ (0.695, 0.242, 0.099)",
        ),
    ],
    "percent": [
        ("7/50 = 14%", "7/50 = 18%"),
        ("0.964 × 100 = 96.4%", "0.964 × 100 = 94.6%"),
    ],
    "π": [
        ("$2π × 10000^{510/512} ≈ 60{,}611$", "$2π × 10000^{510/512} ≈ 62,832$"),
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
    "currency": [
        (r"It costs \$463 + \$20 = \$483.", r"It costs \$463 + \$20 = \$493."),
        ("It is $0.03 × 6 = $0.18.", "It is $0.03 × 6 = $0.19."),
    ],
    "units": [
        ("2.1 ns + 0.8 ns = 2.9 ns", "2.1 ns + 0.8 ns = 3.9 ns"),
        ("60 km/h × 2 h = 120 km", "60 km/h × 2 h = 130 km"),
        ("3 m × 4 m = 12 m²", "3 m × 4 m = 13 m²"),
        ("3 × 10⁵ J + 2 × 10⁵ J = 5 × 10⁵ J", "3 × 10⁵ J + 2 × 10⁵ J = 6 × 10⁵ J"),
        (
            r"$$ 5\times10^{-4}\ \text{m} \cdot 2 = 1.00\times10^{-3}\ \text{m} $$",
            r"$$ 5\times10^{-4}\ \text{m} \cdot 2 = 1.10\times10^{-3}\ \text{m} $$",
        ),
    ],
    "tables": [
        (r"|||$\frac{16-12}{2-1}=4$|||", r"|||$\frac{16-12}{2-1}=2$|||"),
        (r"|1|12||$\frac{2 - 6}{2 - 0} = -2$||", r"|1|12||$\frac{2 - 6}{2 - 0} = -3$||"),
    ],
    "brackets": [
        (r"$0.7 \left(1 - 0.7\right) = 0.21$", r"$0.7 \left(1 - 0.7\right) = 0.22$"),
        (r"$(27-30)\sqrt{10}/20 = -0.474$", r"$(27-30)\sqrt{10}/20 = -0.574$"),
        ("(b) $1 - 0.98 = 0.02$", "(b) $1 - 0.98 = 0.03$"),
    ],
    "digits in text": [
        (r"$2 \times \text{1,000} = \text{2,000}$", r"$2 \times \text{1,000} = \text{2,100}$"),
        (r"$2 \times \textbf{3} = \textbf{6}$", r"$2 \times \textbf{3} = \textbf{7}$"),
    ],
    "fractions and roots": [
        (r"$\frac12 + \frac14 = \frac34$", r"$\frac12 + \frac14 = \frac35$"),
        (r"o $\frac 12 + \frac 14 = 0.75$ y", r"o $\frac 12 + \frac 14 = 0.85$ y"),
    ],
    "functions": [
        (r"$\sigma([0.5, -0.5]) ≈ [0.622, 0.378]$", r"$\sigma([0.5, -0.5]) ≈ [0.622, 0.387]$"),
        (r"$\binom{5}{2} = 10$", r"$\binom{5}{2} = 11$"),
    ],
    "decimal commas": [
        (COMMAS + "0,5 + 0,25 = 0,75", COMMAS + "0,5 + 0,25 = 0,85"),
        (COMMAS + "1.500 · 2,5 = 3.750", COMMAS + "1.500 · 2,5 = 3.760"),
    ],
}
"""In Markdown, by what they are made of."""

LOOK_ALIKES = r"""
x = 5
lr=1e-3, --lr=0.1, f(n=3, k=2) and `batch_size = 32`
x₁, x₂ = 3, 4
i = 0; i += 1; x = x + 1; total -= 3; y *= 2 + 2; z **= 2
for i in range(10): s = s + i * 2
Q¹ (4 × 2) = X′ (4 × 6) · W_Q¹ (6 × 2)
0x1F = 31, 0xff = 256, #define N 3
v1.2.3 = stable, python=3.11, numpy>=1.26.4, 10.0.0.1 = host, 1.2.3+4 = 5.6.7
https://example.org/?a=1&b=2*3=7 and mailto:me@example.org?x=1+1=3
$3 + 4 = 8 €, €5 × 2 = £9, 5 $ = 4 €, US$3 + US$4 = 8
git diff: @@ -1,4 +1,5 @@ a1b2c3d = HEAD, - 3 = old, + 4 = new
f(2) = 4, f(x) = 2·3, P(A) = 0.3 + 0.1, g (3) = 7, p(1) = 1/3·2
embed(i) + pos(1) = [1.0, 0.0], softmax(z)[1] = 0.3·3
1 + 2 + 4 + … + 10 = 44, 1, 2, ... = 5, 0.333... = 1/3, 1 + 1 + ... = 7
1,5 + 2,5 = 3 and 2,5 × 3 = 8
x[0] = 3·4, a[1][2] = 5 + 1, d["k"] = 7 * 2
3 – 2 × 4 = 5, 10 – 3×2 = 5, 10–12 = 3
{1, 2} = {2, 1}, (1, 2) = (3, 4), [1, 2] = [3, 4], 5 = 6, 1 = 100
A = 3 + B, 3 + B = 7, B·3 = 6
$((1+2))=4; FOO=3; export A=1+1=3x; test 1 = 2
5 + 10% = 5.5, σ(6) = 12, φ(9) = 7, Γ(5) = 25, C(5,2) = 11, log(8, 2) = 4
(1,8) + (8,1) = (8,8), (1, 2) + (3, 4) = (4, 7)
temperature=0.7*2=hot
$100 × $2 = $200, $5 × 2 h = $9, 175B × 2 bytes = 350 GB, 3 m × 4 m = 13 m
`x` = 3 + 4, `7` items = 5 `8`
σ(x) = 3 + 4, C(x, 2) = 10 + 1, \binom{n}{2} = 11
[0.98, 0.51] ≈ [0.9, 0.6], [2.1, 3.9] ≈ [2.0, 4.0], [0.40, 0.33] ≈ [0.401, 0.433]
Die Werte 0,5 und 0,25 und 0,75 sind bekannt.  (1,5) = 3, [0,5] = 3, f(1,5) = 4, 1,5, 2 = 7
✗ 2 + 2 = 5 ✗, A^T = 3 + 4, 2^T = 5, $$ x = [1, 2]^T \begin{aligned} 3 = 5 \end{aligned} $$
"""
"""Each line looks like an equation with numbers, and is none that can be judged."""
