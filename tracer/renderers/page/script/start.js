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

arrange();
controls.hidden = false;
document.body.classList.add("ready");
arrive();
