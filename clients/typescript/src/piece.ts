import type { Json } from "./formats.js";
import { type ViewPiece, ViewPieceKind } from "./gen/palimpsest/v1/provider_input_pb.js";

/** PieceKind says what a piece of a view is to the caller's list: see ViewPieceKind of the API. */
export type PieceKind = "whole" | "changed" | "summary" | "made_up" | "recorded";

/** Piece is a run of neighbors in a view. Of a whole one the caller sends its own objects, of all others what is shown. */
export interface Piece {
  readonly kind: PieceKind;
  readonly whole: boolean;
  /** Elements of the caller's list, counted from 0. */
  readonly indexes: readonly number[];
  /** What is shown in place of these elements, in the list's format; none of a whole piece. */
  readonly shown: readonly Json[];
}

/** pieceOf reads a piece of an answer. */
export function pieceOf({ kind, listIndexes, json }: ViewPiece): Piece {
  const name = ViewPieceKind[kind].toLowerCase() as PieceKind;
  return { kind: name, whole: kind === ViewPieceKind.WHOLE, indexes: listIndexes, shown: JSON.parse(json || "[]") as Json[] };
}

/** wholePiece is a run that is shown as it is. */
export function wholePiece(indexes: readonly number[]): Piece {
  return { kind: "whole", whole: true, indexes, shown: [] };
}

/** substituted are pieces of a list in which other elements stood in for some that were too large: it is those that the model sees. */
export function substituted(pieces: readonly Piece[], standIns: ReadonlyMap<number, Json>): Piece[] {
  if (standIns.size === 0) return [...pieces];
  return pieces.flatMap((piece) => (piece.whole ? split(piece.indexes, standIns) : piece));
}

function split(indexes: readonly number[], standIns: ReadonlyMap<number, Json>): Piece[] {
  const pieces: Piece[] = [];
  let run: number[] = [];
  for (const index of indexes) {
    const standIn = standIns.get(index);
    if (!standIn) {
      run.push(index);
      continue;
    }
    if (run.length > 0) pieces.push(wholePiece(run));
    run = [];
    pieces.push({ kind: "changed", whole: false, indexes: [index], shown: [standIn] });
  }
  return run.length > 0 ? [...pieces, wholePiece(run)] : pieces;
}
