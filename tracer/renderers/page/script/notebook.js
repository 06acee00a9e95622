// @ts-check

// Runs in a notebook: frames with pages get their height, and the notebook's theme, also when it changes.

(() => {
  if ("decoderTrace" in document.documentElement.dataset) return; // another frame's script runs
  document.documentElement.dataset.decoderTrace = "";

  const frames = () => /** @type {HTMLIFrameElement[]} */ ([...document.querySelectorAll("iframe.decoder-trace")]);

  /** Whether the ground behind an element is dark. @param {Element} frame */
  const themeOf = (frame) => {
    for (let part = /** @type {Element | null} */ (frame); part; part = part.parentElement) {
      const numbers = getComputedStyle(part).backgroundColor.match(/[\d.]+/g) || [];
      const [red, green, blue, opacity = 1] = numbers.map(Number);
      if (opacity) return 0.3 * red + 0.6 * green + 0.1 * blue < 128 ? "dark" : "light";
    }
    return "light";
  };

  /** @param {HTMLIFrameElement} frame */
  const tellTheme = (frame) => frame.contentWindow?.postMessage({ type: "decoder-trace", theme: themeOf(frame) }, "*");

  window.addEventListener("message", ({ data, source }) => {
    if (data?.type !== "decoder-trace") return;
    for (const frame of frames().filter(({ contentWindow }) => contentWindow === source)) {
      frame.style.height = `${Number(data.height)}px`;
      tellTheme(frame);
    }
  });
  const changes = new MutationObserver(() => {
    frames().forEach(tellTheme);
    setTimeout(() => frames().forEach(tellTheme), 500); // a style may be loaded first
  });
  for (const part of [document.documentElement, document.body]) changes.observe(part, { attributes: true });
})();
