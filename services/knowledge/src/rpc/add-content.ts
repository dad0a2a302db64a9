import { isFull } from "@parley/shared/domain/full";
import { invalid } from "@parley/shared/errors";
import { isUuid } from "@parley/shared/ids";
import { withinRoom } from "@parley/shared/stored-bytes/room";
import type { Handler, KnowledgeContext } from "../context.ts";
import { forgetRefused } from "../ingest/forget-refused.ts";
import { insertPart } from "../store/contents.ts";

const PART_BYTES_MAX = 1024 * 1024;
/** 20 MiB. */
const PARTS_MAX = 20;

export function addContent({ db, clock, room }: KnowledgeContext): Handler<"addContent"> {
  return async ({ ownerId, contentId, part, data }) => {
    if (!isUuid(contentId)) throw invalid("content_id", "content_id must be a UUID");
    if (!(part >= 0 && part < PARTS_MAX)) throw invalid("part", `part must be from 0 to ${PARTS_MAX - 1}`);
    if (data.byteLength > PART_BYTES_MAX) throw invalid("data", `data must be at most ${PART_BYTES_MAX} bytes`);
    const key = { ownerId, contentId, part };
    const adding = db.begin((tx) => withinRoom(tx, ownerId, room, () => insertPart(tx, key, data, clock.now())));
    await adding.catch(async (error: unknown) => {
      if (isFull(error)) await forgetRefused(db, ownerId, contentId);
      throw error;
    });
    return {};
  };
}
