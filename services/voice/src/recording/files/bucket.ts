import { S3Client } from "bun";
import { MEDIA_TYPE } from "../stereo-file.ts";
import { pathOf, READ_BYTES, type RecordingFile, type RecordingFiles } from "./files.ts";

export interface BucketAccess {
  /** The endpoint of a store other than Amazon's; "" for Amazon's. */
  endpoint: string;
  /** "" if the store has no regions. */
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** For tests. */
  timeoutMs?: number | undefined;
}

/** The size of a piece: a minute of a call, the most that is lost if the process dies. */
const PIECE_BYTES = 256 * 1024;
const RETRIES = 3;
/** The smallest part that S3 accepts in an upload, and what a process holds of a file that it assembles. */
const PART_BYTES = 5 * 1024 * 1024;
const UPLOAD = { partSize: PART_BYTES, queueSize: 1, retry: RETRIES, type: MEDIA_TYPE };
const READ_AHEAD_BYTES = 1024 * 1024;
const TIMEOUT_MS = 30_000;
const LISTED_MAX = 1_000;

/**
 * Recordings in a bucket of S3, or of a store that speaks its protocol. Objects cannot be appended to, and an upload that nobody completes leaves nothing, so a call is stored in pieces while it runs; `finish` makes one object of them.
 */
export function bucketFiles(
  { bucket, prefix }: { bucket: string; prefix: string },
  { timeoutMs = TIMEOUT_MS, endpoint, region, ...keys }: BucketAccess,
): RecordingFiles {
  const client = new S3Client({ ...keys, bucket, ...(endpoint && { endpoint }), ...(region && { region }) });
  const within = <T>(work: Promise<T>) => inTime(work, timeoutMs);
  const wholeOf = (name: string) => pathOf(prefix, name);
  const pieceOf = (name: string, number: number) => `${wholeOf(name)}.pieces/${String(number).padStart(6, "0")}`;

  async function* pieces(name: string): AsyncGenerator<string> {
    for (let startAfter = ""; ; ) {
      const asked = { prefix: `${wholeOf(name)}.pieces/`, maxKeys: LISTED_MAX, ...(startAfter && { startAfter }) };
      const { contents = [], isTruncated } = await within(client.list(asked));
      yield* contents.map(({ key }) => key);
      startAfter = contents.at(-1)?.key ?? "";
      if (!isTruncated || startAfter === "") return;
    }
  }

  async function removePieces(name: string): Promise<void> {
    for await (const key of pieces(name)) await within(client.delete(key));
  }

  /** Makes one object of the pieces. Returns false if there are none. */
  async function join(name: string): Promise<boolean> {
    let whole: Bun.NetworkSink | null = null;
    for await (const key of pieces(name)) {
      whole ??= client.file(wholeOf(name)).writer(UPLOAD);
      whole.write(await within(client.file(key).bytes()));
      await within(Promise.resolve(whole.flush()));
    }
    await within(Promise.resolve(whole?.end()));
    return whole !== null;
  }

  return {
    create: (name) =>
      newFile((piece, number) => within(client.write(pieceOf(name, number), piece, { retry: RETRIES }))),
    finish: async (name) => {
      // An earlier run may have died while it deleted the pieces.
      if (!(await within(client.exists(wholeOf(name)))) && !(await join(name))) return null;
      await removePieces(name);
      return (await within(client.stat(wholeOf(name)))).size;
    },
    read: async function* (name, from, to) {
      const file = client.file(wholeOf(name));
      for (let at = from; at < to; at += READ_AHEAD_BYTES) {
        const bytes = Buffer.from(await within(file.slice(at, Math.min(to, at + READ_AHEAD_BYTES)).arrayBuffer()));
        for (let begin = 0; begin < bytes.length; begin += READ_BYTES) yield bytes.subarray(begin, begin + READ_BYTES);
      }
    },
    remove: async (name) => {
      await removePieces(name);
      await within(client.delete(wholeOf(name)));
    },
  };
}

function newFile(store: (piece: Uint8Array, number: number) => Promise<unknown>): RecordingFile {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  let number = 0;
  const storeWaiting = async () => {
    const piece = Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
    if (piece.length > 0) await store(piece, ++number);
  };
  return {
    write: async (added) => {
      waiting.push(added);
      bytes += added.length;
      if (bytes >= PIECE_BYTES) await storeWaiting();
    },
    close: storeWaiting,
  };
}

/** Bun's client has no deadline of its own. */
async function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`the bucket did not answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
