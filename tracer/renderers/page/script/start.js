// @ts-check

// What is drawn before a reader does anything.

draw(text);
follow(String(data.token));
choose();
controls.hidden = false;
document.body.classList.add("ready");
arrive();
