/** The pages under Manage, which come together: a script for each would be dozens of small files for what they share. */
export { KeysPage } from "../../features/keys/keys-page.tsx";
export { NumbersPage } from "../../features/numbers/numbers-page.tsx";
export { SettingsPage } from "../../features/settings/settings-page.tsx";
export { UsagePage } from "../../features/usage/usage-page.tsx";
export { DestinationPage } from "../../features/webhooks/destination-page.tsx";
export { WebhooksPage } from "../../features/webhooks/webhooks-page.tsx";
