import type { ClientRequest, IncomingMessage } from "node:http";
import { type Answer, answerOf, type BodyBounds } from "./answer.ts";

const WITHOUT_BODY: readonly number[] = [204, 205, 304];

/**
 * Makes a Response of an answer whose head has arrived, and reads the answer's body as fast as the Response's is. The
 * body fails as soon as the answer does. The socket stays open until the caller reads the body, cancels it or aborts.
 * @throws RangeError, TypeError for a status or header that a Response cannot have
 */
export function responseOf(request: ClientRequest, incoming: IncomingMessage, bounds: BodyBounds): Response {
  const status = incoming.statusCode ?? 0;
  const head = { status, statusText: incoming.statusMessage ?? "", headers: headersOf(incoming) };
  if (request.method !== "HEAD" && !WITHOUT_BODY.includes(status))
    return new Response(bodyOf(request, incoming, bounds), head);
  incoming.resume();
  return new Response(null, head);
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  return headers;
}

function bodyOf(request: ClientRequest, incoming: IncomingMessage, bounds: BodyBounds): ReadableStream<Uint8Array> {
  let answer: Answer;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        answer = answerOf(request, incoming, bounds, (error) => controller.error(error));
      },
      async pull(controller) {
        const pieces = await answer.read();
        if (!pieces) return controller.close();
        for (const piece of pieces) controller.enqueue(piece);
      },
      cancel: () => answer.cancel(),
    },
    { highWaterMark: 0 },
  );
}
