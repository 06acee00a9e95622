// Frames with living pages take the colors of the site.
const frames = () => document.querySelectorAll("iframe.living");
const theme = () => (document.body.dataset.mdColorScheme === "slate" ? "dark" : "light");
const tellTheme = () => {
  for (const frame of frames())
    frame.contentWindow?.postMessage({ type: "decoder-trace", theme: theme() }, "*");
};
new MutationObserver(tellTheme).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
for (const frame of frames()) frame.addEventListener("load", tellTheme);
tellTheme();
