import type { ByteRange, ReadRecordingResponse } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Database } from "@parley/shared/db/database";
import { notFound, ServiceError } from "@parley/shared/errors";
import { isUuid } from "@parley/shared/ids";
import { byteShares } from "@parley/shared/shares/byte-shares";
import type { Handler } from "../feature.ts";
import { nameOf, type RecordingFiles } from "../recording/files/files.ts";
import { MEDIA_TYPE } from "../recording/stereo-file.ts";
import { findRecording } from "../store/recordings.ts";

/** The most reads of one owner at a time. Each holds one or two pieces of a file. */
const READS_MAX = 32;

/**
 * Reads a recording as fast as the caller takes it.
 * @throws ServiceError not_found if there is none, or none yet; rate_limited
 */
export function readRecording(ctx: {
  db: Database;
  /** Null: calls are not recorded here. */
  files: RecordingFiles | null;
}): Handler<"readRecording"> {
  const reads = byteShares({
    what: "recordings",
    totalBytes: Number.POSITIVE_INFINITY,
    ownerBytes: READS_MAX,
    waitingMax: 0,
  });
  return async function* ({ ownerId, conversationId, range }): AsyncGenerator<ReadRecordingResponse> {
    const row = isUuid(conversationId) ? await findRecording(ctx.db, { ownerId, conversationId }) : null;
    if (!row || !ctx.files || row.state === "removing") throw notFound("Recording");
    if (row.state === "recording") throw new ServiceError("not_found", "The recording is not finished yet. Try again.");
    const hold = await reads.hold(ownerId, 1);
    try {
      const { from, to } = boundsOf(range, row.bytes);
      const version = `${row.bytes}-${row.finishedAt?.getTime() ?? 0}`;
      const recording = { size: row.bytes, mediaType: MEDIA_TYPE, version, from, to };
      yield { event: { $case: "recording", value: recording } };
      for await (const data of ctx.files.read(nameOf(row), from, to)) {
        yield { event: { $case: "data", value: data } };
      }
    } finally {
      hold.release();
    }
  };
}

/** The bytes of a file that a range has (RFC 9110, section 14.1.2); none if `from` is not below `to`. */
function boundsOf(range: ByteRange | undefined, size: number): { from: number; to: number } {
  const { first, last, suffixLength } = range ?? {};
  if (first === undefined) return { from: Math.max(0, size - (suffixLength ?? size)), to: size };
  const to = Math.min(size, (last ?? size) + 1);
  return first < to ? { from: first, to } : { from: size, to: size };
}
