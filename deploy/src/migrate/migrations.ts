import { MIGRATIONS as account } from "@parley/account/migrations";
import { MIGRATIONS as agent } from "@parley/agent/migrations";
import { MIGRATIONS as conversation } from "@parley/conversation/migrations";
import { MIGRATIONS as knowledge } from "@parley/knowledge/migrations";
import { MIGRATIONS as messaging } from "@parley/messaging/migrations";
import { MIGRATIONS as prompt } from "@parley/prompt/migrations";
import type { Migration } from "@parley/shared/db/migrate";
import type { Schema } from "@parley/shared/db/provision";
import { MIGRATIONS as voice } from "@parley/voice/migrations";
import { MIGRATIONS as webhook } from "@parley/webhook-dispatcher/migrations";

/** Of each service, in order. */
export const MIGRATIONS: Readonly<Record<Schema, readonly Migration[]>> = {
  account,
  agent,
  prompt,
  conversation,
  webhook,
  voice,
  messaging,
  knowledge,
};
