import { presentSession } from "@parley/shared/domain/present/account";
import { ServiceError } from "@parley/shared/errors";
import type { Command } from "commander";
import { type Environment, withAccount } from "../connection.ts";
import { examples, type OwnerOptions, ownerVerb } from "../options.ts";
import { formatTable, print } from "../print.ts";

const COLUMNS = ["session_id", "user_agent", "created_at", "last_used_at", "expires_at"];

export function addSessionCommands(program: Command, env: Environment): void {
  const session = program
    .command("session")
    .description("Show where an owner is signed in, and end sessions")
    .addHelpText("after", examples(program, "session list --owner own_…", "session end ses_… --owner own_…"));

  ownerVerb(session, "list")
    .description("List an owner's sessions that have not ended, newest first")
    .action(async ({ owner, json }: OwnerOptions) => {
      const response = await withAccount(env, (account) => account.listSessions({ ownerId: owner }));
      const sessions = response.sessions.map(presentSession);
      await print(
        json,
        { sessions },
        sessions.length > 0 ? formatTable(COLUMNS, sessions) : `${owner} has no sessions.`,
      );
    });

  ownerVerb(session, "end")
    .description("End a session; its browser is signed out within a second")
    .argument("<session_id>")
    .action(async (sessionId: string, { owner, json }: OwnerOptions) => {
      const { ended } = await withAccount(env, (account) => account.signOut({ ownerId: owner, sessionId }));
      if (!ended) throw new ServiceError("not_found", "Session not found");
      await print(json, { session_id: sessionId, ended: true }, `Ended ${sessionId}.`);
    });
}
