import { Type } from "@sinclair/typebox";
import { At, Id, Resource } from "../resources.ts";
import { Nullable, Text } from "../types.ts";
import { TierFields } from "./fields.ts";

/** Longer than any password may be: the account service refuses one that is too long. */
const Password = (description: string, example: string) => Text({ min: 1, max: 1000, description, example });

export const SignInBody = Type.Object(
  {
    email: Text({ min: 1, max: 254, description: "The owner's email address.", example: "ops@acme.example" }),
    password: Password("The owner's password.", "four words and a comma"),
  },
  { $id: "SignInRequest", description: "Who signs in." },
);

export const ChangePasswordBody = Type.Object(
  {
    current_password: Password("The current password.", "four words and a comma"),
    new_password: Password("The new password, 15 to 256 characters.", "another four words here"),
  },
  { $id: "ChangePasswordRequest", description: "A new password." },
);

export const Owner = Resource("Owner", {
  owner_id: Id("ID of the owner.", "own_01m7yyhwdzeb28n9gms8rr2qyg"),
  name: Type.String({ description: "Name of the owner.", examples: ["Acme"] }),
  email: Type.String({ description: "Email address to sign in with.", examples: ["ops@acme.example"] }),
  ...TierFields,
  created_at: At("When the owner was created."),
});

export const SessionList = Resource("SessionList", {
  sessions: Type.Array(
    Resource("Session", {
      session_id: Id("ID of the session.", "ses_01m7yyhwdzeb28n9gms8rr2qyg"),
      is_current: Type.Boolean({ description: "Whether the request was made in this session." }),
      user_agent: Nullable(
        Type.String({ examples: ["Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0"] }),
        "The browser's User-Agent at sign-in, cut to 300 characters.",
      ),
      created_at: At("When the session began."),
      last_used_at: At("When the session was last used, to within five minutes."),
      expires_at: At("When the session ends at the latest. It ends earlier after a day without use."),
    }),
    { description: "The newest 200 sessions that have not ended, newest first." },
  ),
});
