// A browser starts no worker from a disk. There, the search runs in a hidden frame instead.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    #frame = document.createElement("iframe");
    #waiting = [];
    #ready = false;

    constructor(script) {
      super();
      this.#frame.hidden = true;
      this.#frame.title = "Search";
      this.#frame.srcdoc = "<!DOCTYPE html><title>Search</title>";
      this.#frame.addEventListener("load", () => this.#start(String(script)), { once: true });
      document.body.append(this.#frame);
    }

    #start(source) {
      const { contentWindow: inside, contentDocument: page } = this.#frame;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = page.createElement("script");
      script.src = source;
      script.addEventListener("load", () => {
        this.#ready = true;
        this.#waiting.forEach((data) => this.postMessage(data));
      });
      page.body.append(script);
    }

    postMessage(data) {
      if (!this.#ready) this.#waiting.push(data);
      else this.#frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {
      this.#frame.remove();
    }
  };
