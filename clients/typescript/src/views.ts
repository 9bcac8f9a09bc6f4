import { type Known, fronts, isFirst, isFront } from "./lists.js";
import { type Piece, wholePiece } from "./piece.js";

/** Views remembers what was shown last, for the time in which the sidecar is away. */
export class Views {
  #front: Known | undefined; // the list that was shown last
  #pieces: readonly Piece[] = [];
  #shaped = false;

  keep(messages: readonly unknown[], pieces: readonly Piece[]): void {
    this.#front = fronts(written(messages), 1)[0];
    this.#pieces = pieces;
    this.#shaped ||= pieces.some(({ whole }) => !whole) || pieces.flatMap(({ indexes }) => indexes).length < messages.length;
  }

  /**
   * pass is what the model sees without the sidecar: the list as it is, if it was always shown so, else the last view and what is new. It is
   * nothing where neither can be known: what was left out must not come back.
   */
  pass(messages: readonly unknown[]): Piece[] | undefined {
    const elements = written(messages);
    const all = elements.map((_, i) => i);
    if (this.#front ? !this.#shaped : isFirst(elements)) return [wholePiece(all)];
    if (!this.#front || !isFront(this.#front, elements)) return undefined;
    const behind = all.slice(this.#front.count);
    return behind.length > 0 ? [...this.#pieces, wholePiece(behind)] : [...this.#pieces];
  }
}

function written(messages: readonly unknown[]): string[] {
  return messages.map((message) => JSON.stringify(message));
}
