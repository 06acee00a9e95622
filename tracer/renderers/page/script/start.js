// @ts-check

// What is drawn before a reader does anything, and anew where the text is replaced.

const arrange = () => {
  reachCells();
  reachScrollAreas();
  readDiagrams();
  nameQuestions();
  readUsed();
  draw(text);
  follow(select("token")?.value || String(data.token));
  choose();
  markRow(select("token")?.value || String(data.token));
};

const room = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, room];
/** Links lead to below the controls, which stay at the top. */
const leaveRoom = () => {
  room.replaceSync(`:root { --controls: ${controls.offsetHeight}px }`);
  watchReading();
};

controls.hidden = false;
leaveRoom();
window.addEventListener("resize", leaveRoom);
arrange();
document.body.classList.add("ready");
arrive();
