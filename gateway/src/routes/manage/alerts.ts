import { presentAlert } from "@parley/shared/domain/present/alert";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { required } from "../../present/required.ts";
import { Alert, AlertList, CreateAlertBody, UpdateAlertBody } from "../../schemas/manage/alerts.ts";
import { Done } from "../../schemas/manage/fields.ts";
import { endpoints, MANAGED } from "../endpoint.ts";

export function alertRoutes(gate: GateContext, { conversations }: Clients) {
  const route = endpoints(gate, MANAGED);
  return new Elysia({ prefix: "/v1/manage/alerts" })
    .get(
      "/",
      ...route(
        {
          id: "listAlerts",
          summary: "List the alerts",
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
      ...route(
        {
          id: "createAlert",
          summary: "Create an alert",
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
      ...route(
        {
          id: "updateAlert",
          summary: "Change an alert",
          description: "An open alert that is disabled is resolved.",
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
      ...route(
        {
          id: "deleteAlert",
          summary: "Delete an alert; an open one is resolved",
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
