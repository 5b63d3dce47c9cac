/** Finds where the events of a stream end, whatever pieces its bytes come in. */

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const field = Buffer.from('data:');

export class EventCutter {
  /** Bytes of the line so far; what follows the field's name is not counted one by one. */
  #lineLength = 0;
  /** The line so far is the beginning of `data:`. */
  #matches = true;
  /** A line of the block is data, so that the block is an event. */
  #hasData = false;
  /** The last byte was a CR that ended a line; `completed`: and with it an event, to which an LF still belongs. */
  #afterReturn = false;
  #completed = false;
  #between = true;

  /** Nothing but whole blocks so far. */
  get between(): boolean {
    return this.#between;
  }

  /**
   * Offsets in `bytes` behind each event that ends there. Blocks without data (comments) are part of the event after them. 0 is the LF that completes the
   * last event of the piece before.
   */
  push(bytes: Uint8Array): number[] {
    const ends: number[] = [];
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === lineFeed && this.#afterReturn) {
        this.#afterReturn = false;
        if (this.#completed) this.#extend(ends);
        continue;
      }
      this.#afterReturn = byte === carriageReturn;
      this.#completed = false;
      if (byte !== lineFeed && byte !== carriageReturn) this.#read(byte);
      else if (this.#endLine()) {
        this.#completed = true;
        ends.push(at + 1);
      }
    }
    return ends;
  }

  #extend(ends: number[]): void {
    this.#completed = false;
    if (ends.length === 0) ends.push(0);
    ends[ends.length - 1]! += 1;
  }

  #read(byte: number): void {
    if (this.#matches && this.#lineLength < field.length) this.#matches = byte === field[this.#lineLength];
    this.#lineLength += 1;
    this.#between = false;
  }

  /** true: an event ends with this line. */
  #endLine(): boolean {
    const isEmpty = this.#lineLength === 0;
    // The name alone is a field without a value.
    this.#hasData ||= this.#matches && this.#lineLength >= field.length - 1;
    this.#lineLength = 0;
    this.#matches = true;
    if (!isEmpty) return false;
    this.#between = true;
    const isEvent = this.#hasData;
    this.#hasData = false;
    return isEvent;
  }
}
