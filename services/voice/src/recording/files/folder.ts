import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { pathOf, READ_BYTES, type RecordingFile, type RecordingFiles } from "./files.ts";

/** Recordings in a folder, which every process of the service must see. */
export function folderFiles(folder: string): RecordingFiles {
  return {
    create: (name) => newFile(pathOf(folder, name)),
    finish: async (name) => {
      const found = await stat(pathOf(folder, name)).catch(nothingIfMissing);
      return found && found.size > 0 ? found.size : null;
    },
    read: async function* (name, from, to) {
      if (from >= to) return;
      yield* createReadStream(pathOf(folder, name), { start: from, end: to - 1, highWaterMark: READ_BYTES });
    },
    remove: (name) => rm(pathOf(folder, name), { force: true }),
  };
}

function newFile(path: string): RecordingFile {
  let opened: Promise<FileHandle> | null = null;
  const begin = async () => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return open(path, "w", 0o600);
  };
  return {
    write: async (bytes) => {
      opened ??= begin();
      const file = await opened;
      // Less is written than asked for when the disk is nearly full.
      for (let from = 0; from < bytes.length; ) from += (await file.write(bytes, from)).bytesWritten;
    },
    close: async () => {
      const file = await opened;
      await file?.sync().finally(() => file.close());
    },
  };
}

function nothingIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}
