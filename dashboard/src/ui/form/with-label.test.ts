import { expect, test } from "bun:test";
import { withLabel } from "./with-label.ts";

test.each([
  ["url must be an https:// address", "URL", "URL must be an https:// address"],
  ["tools.schedule_call.timezone must be a time zone", "Time zone", "Time zone must be a time zone"],
  [
    "widget_config.allowed_origins.1 must be an origin",
    "Allowed origins",
    "Allowed origins: entry 2 must be an origin",
  ],
  ["to_mobile_number +14155550123 is on your list", "Phone number", "Phone number +14155550123 is on your list"],
  ["A field with this name already exists.", "New field", "A field with this name already exists."],
  ["name is taken", null, "name is taken"],
])("a message at a field names it as its label does: %s", (message, label, shown) => {
  expect(withLabel(message, label)).toBe(shown);
});
