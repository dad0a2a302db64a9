import { expect, test } from "bun:test";
import { distinctNames } from "./distinct-names.ts";

const agent = (id: string, agent_name: string, ...published_mobile_number: string[]) => ({
  id,
  agent_name,
  published_mobile_number,
  updated_at: "2026-01-31T12:00:00.000Z",
});

test("agents with one name are told apart by number or last edit, and by the end of their IDs", () => {
  const names = distinctNames([
    agent("agt_0001", "Front desk", "+14155550123"),
    agent("agt_0002", "Front desk"),
    agent("agt_0003", "Front desk"),
    agent("agt_0004", "Sales"),
  ]);
  expect(names.get("agt_0001")).toBe("Front desk (+14155550123, …0001)");
  expect(names.get("agt_0002")).toMatch(/^Front desk \(edited .*2026.*, …0002\)$/);
  expect(new Set(names.values()).size).toBe(4);
  expect(names.get("agt_0004")).toBe("Sales");
});
