// Frames with living pages take the colors of the site.
const tellTheme = () => {
  const theme = document.body.dataset.mdColorScheme === "slate" ? "dark" : "light";
  for (const frame of document.querySelectorAll("iframe.living"))
    frame.contentWindow?.postMessage({ type: "decoder-trace", theme }, "*");
};
new MutationObserver(tellTheme).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
for (const frame of document.querySelectorAll("iframe.living")) frame.addEventListener("load", tellTheme);
tellTheme();

// What the theme gives no name, readers who do not see it need.
const nameParts = () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  document.querySelectorAll(".md-code__nav").forEach((nav, i) => {
    const name = `Code ${i + 1}`;
    if (nav.ariaLabel !== name) nav.ariaLabel = name;
  });
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap")) wide.tabIndex = 0;
};
new MutationObserver(nameParts).observe(document.body, { childList: true, subtree: true });
nameParts();
