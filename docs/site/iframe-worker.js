// The search runs in a worker, which a page that was opened from the disk may not start: there it runs in a hidden frame.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    #frame = document.createElement("iframe")
    #ready
    constructor(address) {
      super()
      this.#frame.hidden = true
      this.#ready = new Promise((ready) => {
        const begin = () => {
          document.body.append(this.#frame)
          const inside = this.#frame.contentWindow
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
          const script = inside.document.createElement("script")
          script.src = new URL(address, document.baseURI)
          script.onload = () => ready(inside)
          inside.document.body.append(script)
        }
        document.body ? begin() : addEventListener("DOMContentLoaded", begin)
      })
    }
    postMessage(data) {
      this.#ready.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })))
    }
    terminate() {
      this.#frame.remove()
    }
  }
