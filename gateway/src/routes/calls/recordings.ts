import { notFound, ServiceError } from "@parley/shared/errors";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { rangeOf } from "../../http/range.ts";
import { HttpError } from "../../problem.ts";
import { endpoint } from "../endpoint.ts";

/** Idle limit of a download: a player that pauses for longer asks for the rest again. */
const READ_TIMEOUT_MS = 600_000;
const HEADERS = { "Accept-Ranges": "bytes", "Content-Disposition": "inline" };

export function recordingRoutes(gate: GateContext, { conversations, voices }: Clients) {
  return new Elysia().get(
    "/v1/public/conversations/:conversation_id/recording",
    ...endpoint(
      gate,
      {
        id: "getRecording",
        tag: "Conversations",
        summary: "Get the recording of a call",
        description:
          "Calls of agents with `recording` have a recording shortly after they end: in stereo, with the user on the left and the agent on the right. A `Range` of one part gets a 206 response, so that players can seek.",
        scope: "conversations:read",
        file: { type: "audio/ogg", description: "Opus in Ogg.", ranges: true },
        refuses: ["not_found"],
      },
      async ({ ownerId, params, request, origin, headers }) => {
        const key = { ownerId, conversationId: params.conversation_id ?? "" };
        const range = rangeOf(request.headers);
        const parts = voices.readRecording(
          { ...key, range: range ?? undefined },
          { origin, timeoutMs: READ_TIMEOUT_MS },
        );
        const reader = parts[Symbol.asyncIterator]();
        const { value: first } = await reader.next();
        try {
          // Nobody hears a conversation that is past retention, even if its file is deleted a little later.
          await conversations.checkConversation(key, { origin }).catch(hideForeign);
        } catch (error) {
          await reader.return?.();
          throw error;
        }
        if (first?.event?.$case !== "recording") throw new ServiceError("internal", "The recording cannot be read");
        const { size, mediaType, version, from, to } = first.event.value;
        for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
        headers.set("ETag", `"${version}"`);
        if (range && from >= to) {
          await reader.return?.();
          throw new HttpError(416, `The recording has ${size} bytes`, { "Content-Range": `bytes */${size}` });
        }
        headers.set("Content-Type", mediaType);
        if (range) headers.set("Content-Range", `bytes ${from}-${to - 1}/${size}`);
        return new Response(bodyOf(reader), { status: range ? 206 : 200, headers });
      },
    ),
  );
}

type Part = { event?: { $case: string; value: unknown } | undefined };

/** As fast as the client reads. The server's idle timeout disconnects one that stops, and a player asks for the rest when it continues. */
function bodyOf(parts: AsyncIterator<Part>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(body) {
        const { value, done } = await parts.next();
        if (done) return body.close();
        if (value.event?.$case === "data") body.enqueue(value.event.value as Uint8Array);
      },
      async cancel() {
        await parts.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Nobody learns which conversations others have recorded. */
function hideForeign(error: unknown): never {
  throw error instanceof ServiceError && error.kind === "forbidden" ? notFound("Recording") : error;
}
