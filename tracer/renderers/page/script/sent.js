// @ts-check

// The text as it was sent, before the script adds to it; so that a new one can be compared with it.

const sentText = /** @type {Element} */ (text.cloneNode(true));

/** The element of the page for each one that was sent. @type {WeakMap<Element, Element>} */
const onPage = new WeakMap();

/** Note which element of the page is which. @param {Element} sent @param {Element} shown */
const match = (sent, shown) => {
  onPage.set(sent, shown);
  const children = shown.children;
  [...sent.children].forEach((child, i) => match(child, children[i]));
};
match(sentText, text);
