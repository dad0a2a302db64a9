import { presentCallPolicy } from "@parley/shared/domain/present/account";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { presentSettings } from "../../present/account.ts";
import { required } from "../../present/required.ts";
import { CallPolicy, Settings, UpdateSettingsBody } from "../../schemas/manage/settings.ts";
import { endpoints, MANAGED } from "../endpoint.ts";

export function settingsRoutes(gate: GateContext, { accounts }: Clients) {
  const route = endpoints(gate, MANAGED);
  return new Elysia({ prefix: "/v1/manage/settings" })
    .get(
      "/",
      ...route(
        {
          id: "getSettings",
          summary: "Get the owner's settings",
          response: Settings,
        },
        async ({ ownerId, origin }) => {
          const [{ settings }, { owner }] = await Promise.all([
            accounts.getSettings({ ownerId }, { origin }),
            accounts.getOwner({ ownerId }, { origin }),
          ]);
          return presentSettings(required(settings), required(owner));
        },
      ),
    )
    .get(
      "/calls",
      ...route(
        {
          id: "getCallPolicy",
          summary: "Get what the owner's agents may call",
          description: "Only the operator can change it (docs/outbound-calls.md#what-agents-may-call).",
          response: CallPolicy,
        },
        async ({ ownerId, origin }) => {
          const { policy } = await accounts.getCallPolicy({ ownerId }, { origin });
          return presentCallPolicy(required(policy));
        },
      ),
    )
    .patch(
      "/",
      ...route(
        {
          id: "updateSettings",
          summary: "Change the owner's settings",
          description: "Only the operator can change the tier.",
          body: UpdateSettingsBody,
          response: Settings,
        },
        async ({ ownerId, body, origin }) => {
          const { retention_days: retentionDays, timezone } = body;
          const changed = { retentionDays, timezone: timezone === null ? "" : timezone };
          const [{ settings }, { owner }] = await Promise.all([
            accounts.updateSettings({ ownerId, ...changed }, { origin }),
            accounts.getOwner({ ownerId }, { origin }),
          ]);
          return presentSettings(required(settings), required(owner));
        },
      ),
    );
}
