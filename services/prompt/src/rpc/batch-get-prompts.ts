import type { BatchGetPromptsRequest_Item as Item } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import type { Handler, PromptContext } from "../context.ts";
import { toPrompt } from "../convert.ts";
import { LATEST } from "../labels/label.ts";
import { findVersions, findVersionsOfPage, type VersionKey, type WantedVersion } from "../store/prompts.ts";

/** Every chat turn calls this: one query for all items, with duplicates looked up once. */
export function batchGetPrompts(ctx: PromptContext): Handler<"batchGetPrompts"> {
  return async ({ items, forPage }) => {
    const keys: WantedVersion[] = [];
    const places = new Map<string, number>();
    const placeOf = items.map((item) => {
      const key = versionKey(item);
      // No prompt or label has such a name, and the database would reject the whole batch.
      if (key.promptName.includes("\0") || key.promptLabel?.includes("\0")) return -1;
      const id = `${key.ownerId}\0${key.promptName}\0${key.promptVersion}\0${key.promptLabel}`;
      let place = places.get(id);
      if (place === undefined) {
        place = keys.push({ ...key, places: 0 }) - 1;
        places.set(id, place);
      }
      const wanted = keys[place];
      if (wanted) wanted.places++;
      return place;
    });
    const rows = await (forPage ? findVersionsOfPage : findVersions)(ctx.db, keys);
    // Leaves out the times, which agents do not show and which are half of the cost of encoding the response.
    const results = rows.map((row) => ({
      prompt: row ? { ...toPrompt(row), createdAt: undefined, updatedAt: undefined } : undefined,
    }));
    return { results: placeOf.map((place) => results[place] ?? { prompt: undefined }) };
  };
}

function versionKey({ ownerId, reference }: Item): VersionKey {
  return {
    ownerId,
    promptName: reference?.promptName ?? "",
    promptVersion: reference?.promptVersion ?? null,
    promptLabel: reference?.promptLabel === LATEST ? null : (reference?.promptLabel ?? null),
  };
}
