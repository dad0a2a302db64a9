import type { Session } from "@parley/proto/parley/account/v1/account.ts";
import { Elysia } from "elysia";
import { noSessionCookie, sessionCookie } from "../../auth/session-cookie.ts";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { presentOwner } from "../../present/account.ts";
import { required } from "../../present/required.ts";
import { limitGuessesAt, limitGuessesFrom } from "../../rate-limit/sign-in.ts";
import { ChangePasswordBody, SignInBody } from "../../schemas/manage.ts";
import { Done, Owner } from "../../schemas/managed.ts";
import { endpoint } from "../endpoint.ts";

/** Room for the longest email and password however they are escaped: nobody has been asked for a key yet. */
const SIGN_IN_BYTES_MAX = 4 * 1024;

export function sessionRoutes(gate: GateContext, { accounts }: Clients) {
  const giveSession = (request: Request, headers: Headers, token: string, session: Session | undefined) =>
    headers.append("Set-Cookie", sessionCookie(request, token, required(session)));
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
          description: "Hands the session to the browser as a cookie, for at most 30 days, or a day without use.",
          scope: "anyone",
          body: SignInBody,
          bodyBytesMax: SIGN_IN_BYTES_MAX,
          beforeBody: limitAddress,
          response: Owner,
          setsCookie: true,
        },
        async ({ body, request, headers, origin }) => {
          await limitGuessesAt(gate.signInLimiter, body.email);
          const { owner, session, token } = await accounts.signIn(body, { origin });
          giveSession(request, headers, token, session);
          return presentOwner(required(owner));
        },
      ),
    )
    .post(
      "/sign-out",
      ...endpoint(
        gate,
        {
          id: "signOut",
          tag: "Management",
          summary: "End the session",
          scope: "session",
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
      "/me",
      ...endpoint(
        gate,
        { id: "getOwner", tag: "Management", summary: "Read who is signed in", scope: "session", response: Owner },
        async ({ ownerId, origin }) => {
          const { owner } = await accounts.getOwner({ ownerId }, { origin });
          return presentOwner(required(owner));
        },
      ),
    )
    .post(
      "/password",
      ...endpoint(
        gate,
        {
          id: "changePassword",
          tag: "Management",
          summary: "Change the password",
          description: "Every other session ends, and this one is replaced by a new one.",
          scope: "session",
          body: ChangePasswordBody,
          beforeBody: limitAddress,
          response: Done,
          setsCookie: true,
        },
        async ({ ownerId, body, request, headers, origin }) => {
          await limitGuessesAt(gate.signInLimiter, ownerId);
          const change = { ownerId, currentPassword: body.current_password, newPassword: body.new_password };
          const { session, token } = await accounts.changePassword(change, { origin });
          giveSession(request, headers, token, session);
          return { message: "Password changed" };
        },
      ),
    );
}
