import { answerChallenge, type Credentials, readChallenges } from "./digest.ts";
import { cseqOf, type SipRequest, type SipResponse } from "./messages/message.ts";

/** The server and a proxy may each ask for credentials, and each may find that a nonce has become too old. */
const TRIES_MAX = 5;

/** Who asks for credentials, and in which headers. */
const ASKING: Readonly<Record<number, { asks: string; answers: string }>> = {
  401: { asks: "www-authenticate", answers: "authorization" },
  407: { asks: "proxy-authenticate", answers: "proxy-authorization" },
};

/**
 * Makes a request, and again with credentials when it is asked for them. Credentials that were refused are not shown again, except for a
 * new nonce (`stale`).
 */
export async function withCredentials<T extends { response: SipResponse }>(
  first: SipRequest,
  credentials: Credentials | undefined,
  attempt: (request: SipRequest) => Promise<T>,
): Promise<T> {
  /** By header and realm. */
  const shown = new Map<string, { header: string; value: string }>();
  let request = first;
  for (let tries = 1; ; tries++) {
    const tried = await attempt(request);
    const asking = ASKING[tried.response.status];
    if (!asking || !credentials || tries === TRIES_MAX) return tried;
    const answer = readChallenges(tried.response.headers.get(asking.asks) ?? [])
      .map((challenge) => {
        const key = `${asking.answers} ${challenge.get("realm")}`;
        const isRefused = shown.has(key) && challenge.get("stale")?.toLowerCase() !== "true";
        return { key, value: isRefused ? null : answerChallenge(challenge, first, credentials) };
      })
      .find(({ value }) => value !== null);
    if (!answer?.value) return tried;
    shown.set(answer.key, { header: asking.answers, value: answer.value });
    request = againWith(request, [...shown.values()]);
  }
}

function againWith(request: SipRequest, shown: readonly { header: string; value: string }[]): SipRequest {
  const headers = new Map(request.headers).set("cseq", [`${(cseqOf(request)?.number ?? 0) + 1} ${request.method}`]);
  for (const [header, values] of Map.groupBy(shown, (each) => each.header))
    headers.set(
      header,
      values.map(({ value }) => value),
    );
  return { ...request, headers };
}
