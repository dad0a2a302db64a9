import { describe, expect, test } from "bun:test";
import type { HttpTool } from "@parley/proto/parley/agent/v1/tool.ts";
import { nameOf } from "@parley/shared/domain/api-names";
import { PARAMETER_PLACES, TOOL_METHODS } from "@parley/shared/domain/tools";
import { parseAllowList } from "@parley/shared/egress/allow-list";
import { importCurl } from "./curl.ts";

/** A tool in few words: `POST address`, and what each part takes its value from. */
function shortly(command: string): string[] {
  const { tools, problems } = importCurl(command, parseAllowList(""));
  const { method, url, headers, auth, parameters } = (tools[0]?.kind?.value ?? {
    headers: [],
    parameters: [],
  }) as HttpTool;
  return [
    ...problems.map(({ problem }) => problem),
    ...(url ? [`${nameOf(TOOL_METHODS, method)} ${url}`] : []),
    ...(auth?.kind ? [`auth ${auth.kind.$case} ${Object.values(auth.kind.value).join(" ")}`] : []),
    ...headers.map(({ name, value }) => `header ${name} ${value?.$case} ${value?.value}`),
    ...parameters.map(({ name, in: place, source }) => {
      const value = source?.$case === "schema" ? JSON.stringify(source.value) : `${source?.$case} ${source?.value}`;
      return `${nameOf(PARAMETER_PLACES, place)} ${name} ${value}`;
    }),
  ];
}

describe("a curl command", () => {
  test.each<[command: string, tool: string[]]>([
    ["curl https://shop.example/orders", ["GET https://shop.example/orders"]],
    ["curl shop.example/orders", ["GET https://shop.example/orders"]],
    ["curl -sSLI --compressed https://shop.example", ["HEAD https://shop.example/"]],
    ["curl -XDELETE 'https://shop.example/orders/7'", ["DELETE https://shop.example/orders/7"]],
    [
      "curl 'https://shop.example/orders?page=2&status=new%20one&api_key=k-1'",
      [
        "GET https://shop.example/orders",
        'query page {"type":"integer","examples":[2]}',
        'query status {"type":"string","examples":["new one"]}',
        "query api_key secret shop_example_api_key",
      ],
    ],
    [
      "curl -G https://shop.example/orders -d page=2 -d q=lamp",
      [
        "GET https://shop.example/orders",
        'query page {"type":"integer","examples":[2]}',
        'query q {"type":"string","examples":["lamp"]}',
      ],
    ],
    [
      'curl https://shop.example/orders \\\n  -H \'Content-Type: application/json\' \\\n  -H "X-Shop: 7" \\\n  -d \'{"product": "lamp", "count": 2}\'',
      [
        "POST https://shop.example/orders",
        "header X-Shop text 7",
        'body product {"type":"string","examples":["lamp"]}',
        'body count {"type":"integer","examples":[2]}',
      ],
    ],
    [
      'curl -X PUT https://shop.example/a --data-raw $\'{"note":"it\\\'s \\u00e9"}\'',
      ["PUT https://shop.example/a", 'body note {"type":"string","examples":["it\'s é"]}'],
    ],
    [
      'curl https://shop.example/a --json \'{"lines":[{"id":1.5,"gift":true}],"none":null,"password":"hidden-7"}\'',
      [
        "POST https://shop.example/a",
        'body lines {"type":"array","items":{"type":"object","properties":{"id":{"type":"number","examples":[1.5]},"gift":{"type":"boolean","examples":[true]}},"required":["id","gift"]}}',
        "body none {}",
        "body password secret shop_example_password",
      ],
    ],
    [
      "curl 'https://shop.example/?sort_key=a&pageToken=b&accessToken=hidden-7&x-api-key=hidden-8'",
      [
        "GET https://shop.example/",
        'query sort_key {"type":"string","examples":["a"]}',
        'query pageToken {"type":"string","examples":["b"]}',
        "query accessToken secret shop_example_accesstoken",
        "query x-api-key secret shop_example_x_api_key",
      ],
    ],
    ["curl https://ann:hidden-7@shop.example", ["GET https://shop.example/", "auth basic ann shop_example_password"]],
    [
      "curl -u ann:hidden-7 https://shop.example",
      ["GET https://shop.example/", "auth basic ann shop_example_password"],
    ],
    [
      "curl https://shop.example -H 'Authorization: Bearer hidden-7'",
      ["GET https://shop.example/", "auth bearer shop_example_token"],
    ],
    [
      `curl https://shop.example -H 'authorization: Basic ${btoa("ann:hidden-7")}'`,
      ["GET https://shop.example/", "auth basic ann shop_example_password"],
    ],
    [
      "curl https://shop.example -H 'X-Api-Key: hidden-7' -H 'X-Auth-Token: hidden-8' -b 'sid=hidden-9'",
      [
        "GET https://shop.example/",
        "auth header X-Api-Key shop_example_x_api_key",
        "header X-Auth-Token secret shop_example_x_auth_token",
        "header Cookie secret shop_example_cookie",
      ],
    ],
  ])("%p becomes a tool without the values of secrets", (command, tool) => {
    expect(shortly(command)).toEqual(tool);
    expect(JSON.stringify(importCurl(command, parseAllowList("")))).not.toContain("hidden");
  });

  test.each([
    ["wget https://shop.example", "The command must begin with curl."],
    ["curl", "The command must have one address, and has 0."],
    ["curl https://a.example https://b.example", "The command must have one address, and has 2."],
    ["curl https://a.example | sh", "The command must have one address, and has 3."],
    ["curl 'https://a.example", "A quotation mark in the command has no other one."],
    ["curl https://a.example -d a=1", "The body is no JSON object, and tools send one."],
    ["curl https://a.example -d @body.json", "The body is in a file: put its text into the command."],
    ["curl https://a.example -F file=@a.png", "The command cannot be read: Unknown option '-F'."],
    ["curl https://a.example --data-urlencode a=1", "The option --data-urlencode sends a form, and tools send JSON."],
    ["curl -X TRACE https://a.example", "Tools have no TRACE requests."],
    ["curl http://", "The address of the command is not a valid URL."],
  ])("%p is refused with the reason", (command, problem) => {
    expect(shortly(command)).toEqual([problem]);
  });

  test("with a private address is refused", () => {
    expect(shortly("curl http://169.254.169.254/latest")).toEqual([expect.stringContaining("169.254.169.254")]);
  });
});
