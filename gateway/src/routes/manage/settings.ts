import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { presentSettings } from "../../present/account.ts";
import { required } from "../../present/required.ts";
import { Settings, UpdateSettingsBody } from "../../schemas/manage/settings.ts";
import { endpoint } from "../endpoint.ts";

export function settingsRoutes(gate: GateContext, { accounts }: Clients) {
  return new Elysia({ prefix: "/v1/manage/settings" })
    .get(
      "/",
      ...endpoint(
        gate,
        {
          id: "getSettings",
          tag: "Management",
          summary: "Get the owner's settings",
          scope: "session",
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
    .patch(
      "/",
      ...endpoint(
        gate,
        {
          id: "updateSettings",
          tag: "Management",
          summary: "Change the owner's settings",
          description: "Only the operator can change the tier.",
          scope: "session",
          body: UpdateSettingsBody,
          response: Settings,
        },
        async ({ ownerId, body, origin }) => {
          const [{ settings }, { owner }] = await Promise.all([
            accounts.updateSettings({ ownerId, retentionDays: body.retention_days }, { origin }),
            accounts.getOwner({ ownerId }, { origin }),
          ]);
          return presentSettings(required(settings), required(owner));
        },
      ),
    );
}
