import { join } from "node:path";

/** The store of recordings. Each method rejects with the store's error; names are `<owner id>/<conversation id>`. */
export interface RecordingFiles {
  /** A new file, which is written from its beginning to its end. */
  create(name: string): RecordingFile;
  /**
   * Completes a file that this process, or one that died, has written. May be repeated.
   * @returns its bytes; null if nothing was written
   */
  finish(name: string): Promise<number | null>;
  /** The bytes from `from` up to, and without, `to`, in pieces of at most READ_BYTES. The file must be finished. */
  read(name: string, from: number, to: number): AsyncGenerator<Buffer>;
  /** Deletes a file in any state. Does nothing if there is none. */
  remove(name: string): Promise<void>;
}

export interface RecordingFile {
  /** Appends. Resolves when there is room for more; the bytes may still be in memory. */
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when everything is stored. */
  close(): Promise<void>;
}

export const READ_BYTES = 64 * 1024;

/** The path of a recording below a folder or a prefix. Ids come from requests, so nothing in them may lead elsewhere. */
export function pathOf(base: string, name: string): string {
  const parts = name.split("/").map((part) => encodeURIComponent(part).replaceAll(".", "%2E"));
  return `${join(base, ...parts)}.ogg`;
}

export function nameOf({ ownerId, conversationId }: { ownerId: string; conversationId: string }): string {
  return `${ownerId}/${conversationId}`;
}
