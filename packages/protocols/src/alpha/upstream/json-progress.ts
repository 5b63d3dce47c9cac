/**
 * Whether text that arrives in pieces has become one complete JSON object or array. Looks at each character once, keeps no text,
 * and does not judge what stands between the brackets.
 */
export class JsonProgress {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #begun = false;

  add(text: string): void {
    for (let i = 0; i < text.length; i++) this.#take(text.charCodeAt(i));
  }

  get complete(): boolean {
    return this.#begun && this.#depth <= 0;
  }

  #take(code: number): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (code === 0x5c) this.#escaped = true;
      else if (code === 0x22) this.#inString = false;
      return;
    }
    if (code === 0x22) this.#inString = true;
    else if (code === 0x7b || code === 0x5b) {
      this.#begun = true;
      this.#depth++;
    } else if (code === 0x7d || code === 0x5d) this.#depth--;
  }
}
