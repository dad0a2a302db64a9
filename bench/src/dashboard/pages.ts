import type { Page } from "playwright-core";

export interface Measured {
  name: string;
  path: string;
  /** What a person does there; each step is at most one interaction, after which the page must show something new. */
  use(page: Page): Promise<void>;
}

export interface Objects {
  agentId: string;
  conversationId: string;
  destinationId: string;
}

const NOTHING = async () => {};

/** Every page of the dashboard, with the typical actions on it. */
export function pagesOf({ agentId, conversationId, destinationId }: Objects): readonly Measured[] {
  return [
    {
      name: "Overview",
      path: "/",
      use: async (page) => {
        await page.getByRole("button", { name: "Channel" }).click();
        await page.getByRole("combobox", { name: "Period" }).selectOption("7");
      },
    },
    { name: "Agents", path: "/agents", use: (page) => opensDialog(page, "New agent") },
    {
      name: "Agent",
      path: `/agents/${agentId}`,
      use: async (page) => {
        for (const name of ["Models", "Tools", "Channels", "Prompt"]) await page.getByRole("tab", { name }).click();
        await page.getByRole("textbox", { name: "Name" }).pressSequentially("abc");
        await page.getByRole("button", { name: "Try it" }).click();
        await page.getByRole("textbox", { name: "Message" }).pressSequentially("abc");
      },
    },
    { name: "Prompts", path: "/prompts", use: (page) => opensDialog(page, "New prompt") },
    {
      name: "Conversations",
      path: "/conversations",
      use: async (page) => {
        await page.getByRole("button", { name: "Status", exact: true }).click();
        await page.getByRole("menuitem", { name: "Completed" }).click();
        await page.getByRole("button", { name: "Remove filter: Status" }).click();
      },
    },
    {
      name: "Conversation",
      path: `/conversations/${conversationId}`,
      use: async (page) => {
        for (const name of ["Latency", "Deliveries", "JSON", "Transcript"])
          await page.getByRole("tab", { name }).click();
      },
    },
    {
      name: "Calls",
      path: "/calls",
      use: async (page) => {
        for (const name of ["Batches", "Do not call", "Calls"])
          await page.getByRole("tab", { name, exact: true }).click();
        await opensDialog(page, "New call");
      },
    },
    { name: "Numbers & carriers", path: "/numbers", use: (page) => opensDialog(page, "Connect a carrier") },
    { name: "Webhooks", path: "/webhooks", use: (page) => opensDialog(page, "New webhook") },
    {
      name: "Webhook",
      path: `/webhooks/${destinationId}`,
      use: async (page) => {
        for (const name of ["Example receiver", "Deliveries"])
          await page.getByRole("tab", { name, exact: true }).click();
        await page.getByRole("button", { name: /^Actions for/ }).click();
        await page.getByRole("menuitem", { name: "Edit…" }).click();
      },
    },
    { name: "API keys", path: "/keys", use: (page) => opensDialog(page, "New API key") },
    { name: "Usage", path: "/usage", use: NOTHING },
    {
      name: "Settings",
      path: "/settings",
      use: (page) => page.getByLabel("Current password").pressSequentially("abc"),
    },
  ];
}

async function opensDialog(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name }).first().click();
  await page.getByRole("dialog", { name }).waitFor();
  await page.keyboard.press("Escape");
}
