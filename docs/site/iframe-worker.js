// The search runs in a worker, which a page that was opened from the disk may not start: there it runs in a hidden frame.
// Messages go over in a task of their own, as those of a worker do: who answers at once answers before anybody listens.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    #frame = document.createElement("iframe")
    #ready
    constructor(address) {
      super()
      this.#frame.hidden = true
      this.#frame.srcdoc = "<!doctype html><body></body>"
      this.#ready = new Promise((ready) => {
        this.#frame.onload = () => {
          const inside = this.#frame.contentWindow
          inside.postMessage = (data) => setTimeout(() => this.dispatchEvent(new MessageEvent("message", { data })))
          const script = inside.document.createElement("script")
          script.src = new URL(address, document.baseURI)
          script.onload = () => ready(inside)
          inside.document.body.append(script)
        }
      })
      const begin = () => document.body.append(this.#frame)
      document.body ? begin() : addEventListener("DOMContentLoaded", begin)
    }
    postMessage(data) {
      this.#ready.then((inside) => setTimeout(() => inside.dispatchEvent(new inside.MessageEvent("message", { data }))))
    }
    terminate() {
      this.#frame.remove()
    }
  }
