// @ts-check

// The slider of the first picture, which drags one number.

const dragged = document.getElementById("dragged");

/** The slider for one number of the followed token, and the place of the number. @type {{slider: HTMLInputElement, place: number} | null} */
let offered = null;

/** Offer a slider. */
const offerNumber = () => {
  const of = (dragged?.dataset.numbers || "").split(" ")[Number(select("token")?.value ?? data.token)];
  const place = of && placeOf(of);
  if (!dragged || typeof place !== "number") return;
  const number = tapeHere().numberAt(place);
  const size = Math.max(1, Math.ceil(Math.abs(Number(textOf(number)))));
  const slider = document.createElement("input");
  const decimals = Math.max(2, -number.e);
  Object.assign(slider, { type: "range", min: -2 * size, max: 2 * size, step: 10 ** -decimals });
  slider.value = textOf(number);
  slider.setAttribute("aria-label", nameOf(of));
  const shown = inText(of, printedAt(of));
  slider.addEventListener("input", () =>
    tryChange(slider, () => change(place, Number(slider.value).toFixed(decimals), true)),
  );
  offered = { slider, place };
  all(".number", dragged).forEach(discard);
  const { labels } = sourceOf(of);
  const [token, feature] = of.split(":")[1].split(",").map((i, axis) => labels[axis][Number(i)]);
  dragged.replaceChildren(`Drag “${feature}” of “${token}”:`, slider, shown);
  dragged.hidden = false;
};
if (tape) {
  offerNumber();
  select("token")?.addEventListener("change", offerNumber);
  document.addEventListener("replaced", offerNumber);
  document.addEventListener("changed", () => offered && (offered.slider.value = textOf(tapeHere().numberAt(offered.place))));
}
