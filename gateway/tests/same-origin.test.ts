import { describe, expect, test } from "bun:test";
import { refuseOtherOrigins } from "../src/http/same-origin.ts";

const request = (headers: Record<string, string>, method = "POST") =>
  new Request("http://api.example/v1/manage/keys", { method, headers: { host: "api.example", ...headers } });

describe("a write", () => {
  test.each([
    ["of a page of this origin", { "sec-fetch-site": "same-origin", origin: "https://api.example" }],
    ["that the user began, not a page", { "sec-fetch-site": "none" }],
    ["of this origin by a browser that says no more", { origin: "https://api.example" }],
    ["of no browser", {}],
  ])("%s is allowed", (_, headers: Record<string, string>) => {
    expect(() => refuseOtherOrigins(request(headers))).not.toThrow();
  });

  test.each([
    ["of another site's page", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["of a neighbouring host's page", { "sec-fetch-site": "same-site", origin: "https://other.example" }],
    ["that claims this origin but is cross-site", { "sec-fetch-site": "cross-site", origin: "https://api.example" }],
    ["of another origin by a browser that says no more", { origin: "https://evil.example" }],
    ["of another port", { origin: "https://api.example:8443" }],
    ["of an origin that hides itself", { origin: "null" }],
    ["of an unreadable origin", { origin: "::" }],
  ])("%s is refused", (_, headers: Record<string, string>) => {
    for (const method of ["POST", "PATCH", "DELETE", "PUT"]) {
      expect(() => refuseOtherOrigins(request(headers, method))).toThrow("another site's page");
    }
  });
});

test("reads are allowed from anywhere, because other sites cannot see the response", () => {
  const headers = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
  expect(() => refuseOtherOrigins(request(headers, "GET"))).not.toThrow();
});
