import { expect, test } from "bun:test";
import { join } from "node:path";

// Its types are those of browsers.
const { renderedPage } = await import(join(import.meta.dir, "../testing/rendered-page.tsx"));

const UNREACHABLE = "The server cannot be reached.";
const AT = "2026-01-31T09:30:00.000Z";
const PROMPT = { prompt_name: "agent-agt_1", prompt_version: 1, prompt_content: "You are Ada." };
const AGENT = { id: "agt_1", agent_name: "Front desk", agent_mobile_number: [], prompt: PROMPT };
const VERSIONS = {
  prompt_name: "refunds",
  versions: [{ prompt_version: 1, prompt_content: "You handle refunds.", labels: [], created_at: AT }],
};
const CONVERSATION = {
  conversation_id: "5f0c",
  agent_id: "agt_1",
  conversation_type: "CHAT",
  conversation_status: "COMPLETED",
  conversation_metadata: {},
  conversation_transcript: [{ role: "user", content: "Are you open?", timestamp: AT }],
  created_at: AT,
};
const KEY = { key_id: "key_1", name: "Server", prefix: "pk", status: "active", scopes: ["*"], created_at: AT };
const SETTINGS = { retention_days: 365, tier: "free", rate_limit_per_minute: 60 };
const TOOL = { id: "tol_1", name: "look_up_order", description: "", type: "client", updated_at: AT };
const SECRET = { name: "shop_key", version: 1, created_at: AT, updated_at: AT };
const DESTINATION = {
  destination_id: "dst_1",
  name: "Ledger",
  url: "https://a.example",
  status: "enabled",
  events: ["conversation.completed"],
  created_at: AT,
};
const DELIVERY = { delivery_id: "dlv_1", event: "conversation.ended", status: "failed", attempts: [], created_at: AT };

test.each([
  ["/agents/agt_1", ["agents", "one", "agt_1"], AGENT, 'value="Front desk"'],
  ["/prompts/refunds", ["prompts", "versions", "refunds"], VERSIONS, "Save as version"],
  ["/conversations", ["conversations", {}], { conversations: [CONVERSATION], total: 1 }, "Are you open?"],
  ["/keys", ["keys"], [KEY], "Server"],
  ["/tools/tol_1", ["tools", "one", "tol_1"], TOOL, 'value="look_up_order"'],
  ["/secrets", ["secrets"], [SECRET], "shop_key"],
  ["/settings", ["settings"], SETTINGS, 'value="365"'],
  ["/webhooks", ["destinations"], [DESTINATION], "Ledger"],
  [
    "/webhooks/dst_1",
    ["deliveries", { destination_id: "dst_1" }],
    { deliveries: [DELIVERY], total: 1 },
    "conversation.ended",
  ],
])("%s keeps what it has read, and says so, when reading it again fails", async (path, queryKey, data, shown) => {
  const read = [
    [["destinations"], [DESTINATION]],
    [queryKey, data],
  ];
  const html = await renderedPage(path, read, UNREACHABLE);
  expect(html.includes(shown)).toBeTrue();
  // The page says it once, and not in place of what it shows.
  expect(html.split(UNREACHABLE)).toHaveLength(2);
  expect(html.includes("What this page shows may be out of date.")).toBeTrue();
});
