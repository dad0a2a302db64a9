import type { Session } from "@parley/proto/parley/account/v1/account.ts";
import { notFound } from "@parley/shared/errors";
import type { CallOrigin } from "@parley/shared/rpc/call";
import { Elysia } from "elysia";
import { deviceCookie, readDeviceToken } from "../../auth/device-cookie.ts";
import { noSessionCookie, sessionCookie } from "../../auth/session-cookie.ts";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { presentManagedSession, presentOwner } from "../../present/account.ts";
import { required } from "../../present/required.ts";
import { limitGuessesAt, limitGuessesFrom } from "../../rate-limit/sign-in.ts";
import { Done } from "../../schemas/manage/fields.ts";
import { ChangePasswordBody, Owner, SessionList, SignInBody } from "../../schemas/manage/session.ts";
import { endpoint, endpoints, MANAGED } from "../endpoint.ts";

/**
 * Enough for the longest email and password, however they are escaped. Small, because the caller is not authenticated
 * yet.
 */
const SIGN_IN_BYTES_MAX = 4 * 1024;

export function sessionRoutes(gate: GateContext, { accounts }: Clients) {
  const route = endpoints(gate, MANAGED);
  const giveSession = (request: Request, headers: Headers, { token, session, deviceToken }: Begun) => {
    headers.append("Set-Cookie", sessionCookie(request, token, required(session)));
    headers.append("Set-Cookie", deviceCookie(request, deviceToken));
  };
  const knownDevice = async (email: string, request: Request, origin: CallOrigin) => {
    const deviceToken = readDeviceToken(request);
    if (deviceToken === null) return null;
    const { isKnown } = await accounts.recognizeDevice({ email, deviceToken }, { origin });
    return isKnown ? deviceToken : null;
  };
  const limitAddress = (request: Request) => limitGuessesFrom(gate.signInLimiter, gate.addressOf(request));
  return new Elysia({ prefix: "/v1/manage" })
    .post(
      "/sign-in",
      ...endpoint(
        gate,
        {
          id: "signIn",
          tag: "Management",
          summary: "Sign in with email and password",
          description:
            "Sets a session cookie, which is valid for at most 30 days and ends after a day without use, and a cookie that only " +
            "tells this browser from others that attempt to sign in.",
          scope: "anyone",
          body: SignInBody,
          bodyBytesMax: SIGN_IN_BYTES_MAX,
          beforeBody: limitAddress,
          response: Owner,
          setsCookie: true,
        },
        async ({ body, request, headers, origin }) => {
          const { email } = body;
          await limitGuessesAt(gate.signInLimiter, "email", email, () => knownDevice(email, request, origin));
          const begun = await accounts.signIn({ ...body, userAgent: userAgentOf(request) }, { origin });
          giveSession(request, headers, begun);
          return presentOwner(required(begun.owner));
        },
      ),
    )
    .post(
      "/sign-out",
      ...route(
        {
          id: "signOut",
          summary: "End the session",
          response: Done,
          setsCookie: true,
        },
        async ({ ownerId, callerId, request, headers, origin }) => {
          await accounts.signOut({ ownerId, sessionId: callerId }, { origin });
          headers.append("Set-Cookie", noSessionCookie(request));
          return { message: "Signed out" };
        },
      ),
    )
    .get(
      "/sessions",
      ...route(
        {
          id: "listSessions",
          summary: "List the owner's sessions, newest first",
          response: SessionList,
        },
        async ({ ownerId, callerId, origin }) => {
          const { sessions } = await accounts.listSessions({ ownerId }, { origin });
          return { sessions: sessions.map((session) => presentManagedSession(session, callerId)) };
        },
      ),
    )
    .delete(
      "/sessions/:owner_session_id",
      ...route(
        {
          id: "endSession",
          summary: "End one of the owner's sessions",
          description: "Takes effect at once.",
          response: Done,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const sessionId = params.owner_session_id ?? "";
          const { ended } = await accounts.signOut({ ownerId, sessionId }, { origin });
          if (!ended) throw notFound("Session");
          return { message: "Session ended" };
        },
      ),
    )
    .get(
      "/me",
      ...route(
        {
          id: "getOwner",
          summary: "Get the owner who is signed in",
          response: Owner,
        },
        async ({ ownerId, origin }) => {
          const { owner } = await accounts.getOwner({ ownerId }, { origin });
          return presentOwner(required(owner));
        },
      ),
    )
    .post(
      "/password",
      ...route(
        {
          id: "changePassword",
          summary: "Change the password",
          description: "Every other session ends, and this one is replaced by a new one.",
          body: ChangePasswordBody,
          beforeBody: limitAddress,
          response: Done,
          setsCookie: true,
        },
        async ({ ownerId, body, request, headers, origin }) => {
          await limitGuessesAt(gate.signInLimiter, "owner", ownerId);
          const change = { ownerId, currentPassword: body.current_password, newPassword: body.new_password };
          const userAgent = userAgentOf(request);
          giveSession(request, headers, await accounts.changePassword({ ...change, userAgent }, { origin }));
          return { message: "Password changed" };
        },
      ),
    );
}

/** What a sign-in and a change of password begin. */
interface Begun {
  session?: Session | undefined;
  token: string;
  deviceToken: string;
}

function userAgentOf({ headers }: Request): string | undefined {
  return headers.get("user-agent") ?? undefined;
}
