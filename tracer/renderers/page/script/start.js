// @ts-check

// What is drawn before a reader does anything.

draw(text);
follow(String(data.token));
choose();
controls.hidden = false;
document.body.classList.add("ready");

// Of a long text only the matrices in sight are laid out; the others hold their room till then.
for (const table of /** @type {HTMLTableElement[]} */ (all(".scroll > table", text))) {
  const height = `auto ${1.9 * table.rows.length + 2.1}rem`;
  table.parentElement?.style.setProperty("contain-intrinsic-height", height);
}
arrive();
