// @ts-check

// Inside another page: tell it the height, and take the theme that it asks for.

/** The kind of the messages, in both directions. */
const MESSAGE = "decoder-trace";

if (window.parent !== window) {
  const { documentElement: root, body } = document;
  const tellHeight = () =>
    window.parent.postMessage({ type: MESSAGE, height: Math.ceil(root.getBoundingClientRect().height) }, "*");
  new ResizeObserver(tellHeight).observe(body);
  window.addEventListener("load", tellHeight); // a frame that is out of sight observes nothing yet
  window.addEventListener("message", ({ data: said, source }) => {
    if (source !== window.parent || said?.type !== MESSAGE) return;
    if (["light", "dark"].includes(said.theme)) root.dataset.theme = said.theme;
  });
}
