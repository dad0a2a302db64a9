import { presentAlert } from "@parley/shared/domain/present/alert";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { required } from "../../present/required.ts";
import { Alert, AlertList, CreateAlertBody, UpdateAlertBody } from "../../schemas/manage/alerts.ts";
import { Done } from "../../schemas/manage/fields.ts";
import { endpoint } from "../endpoint.ts";

export function alertRoutes(gate: GateContext, { conversations }: Clients) {
  return new Elysia({ prefix: "/v1/manage/alerts" })
    .get(
      "/",
      ...endpoint(
        gate,
        {
          id: "listAlerts",
          tag: "Management",
          summary: "List the alerts",
          scope: "session",
          response: AlertList,
        },
        async ({ ownerId, origin }) => {
          const { alerts } = await conversations.listAlerts({ ownerId }, { origin });
          return { alerts: alerts.map(presentAlert) };
        },
      ),
    )
    .post(
      "/",
      ...endpoint(
        gate,
        {
          id: "createAlert",
          tag: "Management",
          summary: "Create an alert",
          scope: "session",
          body: CreateAlertBody,
          response: Alert,
          refuses: ["not_found", "forbidden", "conflict"],
        },
        async ({ ownerId, body, origin }) => {
          const { alert } = await conversations.createAlert(
            {
              ownerId,
              name: body.name,
              enabled: body.enabled ?? true,
              metric: body.metric,
              agentId: body.agent_id ?? "",
              windowMinutes: body.window_minutes,
              threshold: body.threshold,
              minimumCount: body.minimum_count ?? 1,
            },
            { origin },
          );
          return presentAlert(required(alert));
        },
      ),
    )
    .patch(
      "/:alert_id",
      ...endpoint(
        gate,
        {
          id: "updateAlert",
          tag: "Management",
          summary: "Change an alert",
          description: "An open alert that is disabled is resolved.",
          scope: "session",
          body: UpdateAlertBody,
          response: Alert,
          refuses: ["not_found", "forbidden"],
        },
        async ({ ownerId, params, body, origin }) => {
          const { alert } = await conversations.updateAlert(
            {
              ownerId,
              alertId: params.alert_id ?? "",
              name: body.name,
              enabled: body.enabled,
              metric: body.metric,
              agentId: body.agent_id === null ? "" : body.agent_id,
              windowMinutes: body.window_minutes,
              threshold: body.threshold,
              minimumCount: body.minimum_count,
            },
            { origin },
          );
          return presentAlert(required(alert));
        },
      ),
    )
    .delete(
      "/:alert_id",
      ...endpoint(
        gate,
        {
          id: "deleteAlert",
          tag: "Management",
          summary: "Delete an alert; an open one is resolved",
          scope: "session",
          response: Done,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          await conversations.deleteAlert({ ownerId, alertId: params.alert_id ?? "" }, { origin });
          return { message: "Alert deleted" };
        },
      ),
    );
}
