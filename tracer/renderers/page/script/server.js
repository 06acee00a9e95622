// @ts-check

// The local server as the engine of a page: it makes the edits, and answers with the new page.

/**
 * What recomputes the page. Each function answers with the page that follows; a refusal is an
 * error with the reason.
 * @typedef {object} Engine
 * @property {(edit: object) => Promise<string>} edit
 * @property {() => Promise<string>} applyKept makes the edits again that a change of the file took away
 * @property {() => Promise<string>} undo
 * @property {() => Promise<string>} reset
 * @property {() => Promise<string>} state
 * @property {(changed: (version: number) => void, ended: () => void) => void} follow calls when
 *   somebody else changes it, and when it has ended
 * @property {(what: "scenario.yaml" | "first") => string} address of the scenario, of the first page
 */

const sessionKey = new URLSearchParams(location.search).get("key") || "";
/** @param {string} path */
const addressOf = (path) => `${path}?key=${encodeURIComponent(sessionKey)}`;

/** @param {"GET" | "POST"} method @param {string} path @param {object} [body] */
const requestPage = async (method, path, body) => {
  const sent = body && JSON.stringify(body);
  const answer = await fetch(addressOf(path), { method, body: sent }).catch(() => {
    throw new Error("the program does not answer; is it still running?");
  });
  const written = await answer.text();
  if (!answer.ok) throw new Error(written);
  return written;
};

/** @type {Engine} */
const engine = {
  edit: (edit) => requestPage("POST", "edit", edit),
  applyKept: () => requestPage("POST", "apply-kept"),
  undo: () => requestPage("POST", "undo"),
  reset: () => requestPage("POST", "reset"),
  state: () => requestPage("GET", "./"),
  follow: (changed, ended) => {
    /** @type {EventSource | undefined} */
    let events;
    const listen = () => {
      events?.close(); // a browser allows a server few connections, which all its tabs share
      if (document.hidden) return;
      events = new EventSource(addressOf("events"));
      events.addEventListener("message", (event) => changed(Number(event.data)));
      events.addEventListener("error", () => {
        events?.close(); // else a browser asks again and again
        ended();
      });
    };
    document.addEventListener("visibilitychange", listen);
    listen();
  },
  address: addressOf,
};
