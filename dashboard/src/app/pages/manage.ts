/**
 * The pages under Manage, which load as one script: a script for each page would need dozens of small files for what they share.
 */
import "../shared.ts";
import { alertsQuery } from "../../features/alerts/alerts.ts";
import { keysQuery } from "../../features/keys/keys.ts";
import { carriersQuery, numbersQuery } from "../../features/numbers/queries.ts";
import { secretsQuery } from "../../features/secrets/secrets.ts";
import { sessionsQuery, settingsQuery } from "../../features/settings/settings.ts";
import { deliveriesQuery, destinationsQuery, failuresQuery } from "../../features/webhooks/queries.ts";
import type { FirstQueries } from "../first-data.ts";

export { AlertsPage } from "../../features/alerts/alerts-page.tsx";
export { KeysPage } from "../../features/keys/keys-page.tsx";
export { NumbersPage } from "../../features/numbers/numbers-page.tsx";
export { SecretsPage } from "../../features/secrets/secrets-page.tsx";
export { SettingsPage } from "../../features/settings/settings-page.tsx";
export { UsagePage } from "../../features/usage/usage-page.tsx";
export { DestinationPage } from "../../features/webhooks/destination-page.tsx";
export { WebhooksPage } from "../../features/webhooks/webhooks-page.tsx";

/** What these pages ask for first when their address has no filters. */
export const FIRST_QUERIES: FirstQueries = {
  "/alerts": () => [alertsQuery],
  "/keys": () => [keysQuery],
  "/numbers": () => [carriersQuery, numbersQuery],
  "/secrets": () => [secretsQuery],
  "/settings": () => [settingsQuery, sessionsQuery],
  "/webhooks": () => [destinationsQuery, failuresQuery],
  "/webhooks/$destinationId": ({ destinationId = "" }) => [
    destinationsQuery,
    deliveriesQuery({ destination_id: destinationId }),
  ],
};
