import { checkAddress } from "@parley/shared/egress/url";
import { invalid, ServiceError } from "@parley/shared/errors";
import type { AgentContext, Handler } from "../context.ts";
import { importCurl } from "../tools/import/curl.ts";
import { importOpenApi } from "../tools/import/openapi.ts";

/** More than the conversation service waits for the server. */
const FETCH_MS = 25_000;

/** Makes tools of what an owner's server already says of itself. Stores nothing. */
export function importTools(ctx: Pick<AgentContext, "allowedHosts" | "conversations">): Handler<"importTools"> {
  return async ({ ownerId, source }, call) => {
    switch (source?.$case) {
      case "curl":
        return importCurl(source.value, ctx.allowedHosts);
      case "document":
        return importOpenApi({ text: source.value, path: "document" }, ctx.allowedHosts);
      case "url": {
        const url = source.value;
        checkAddress("url", url, ctx.allowedHosts);
        const { text } = await ctx.conversations
          .fetchDocument({ ownerId, url }, { origin: call, timeoutMs: FETCH_MS })
          .catch((error) => {
            if (!(error instanceof ServiceError) || error.kind !== "condition") throw error;
            throw invalid("url", `url cannot be read: ${error.detail}`);
          });
        return importOpenApi({ text, url, path: "url" }, ctx.allowedHosts);
      }
      default:
        throw invalid("url", "one of url, document and curl is required");
    }
  };
}
