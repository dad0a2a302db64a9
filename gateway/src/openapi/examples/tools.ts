import type { OperationExamples } from "./example.ts";
import { CREATED_AT, KEY_ID, ONE_PAGE, SECRET_NAME, TOOL_ID, UPDATED_AT } from "./values.ts";

const SECRET = "whsec_4nzHJFqYpBFmKdBjBbVmYjVEpMpBV1pEM2m9TNb1Cgg=";
const NAME = "look_up_order";

const request = {
  name: NAME,
  description: "Looks up an order by its number.",
  type: "http",
  method: "GET",
  url: "https://api.shop.example/orders/{order_id}",
  headers: { Accept: "application/json" },
  auth: { type: "bearer", secret: SECRET_NAME },
  parameters: [
    {
      name: "order_id",
      in: "path",
      required: true,
      schema: { type: "string", description: "Number of the order, such as A-1001." },
    },
    { name: "customer", in: "query", required: true, variable: "customer_id" },
  ],
  retries: 2,
  idempotent: false,
  result: { keep: ["/status", "/delivery"], hide: false },
  assignments: [{ variable: "order_status", pointer: "/status" }],
  timeout_ms: 10_000,
  speech: { before: "One moment, I'll look that up.", delayed: [{ after_ms: 4_000, text: "Still looking." }] },
  interruption: "continue",
  run: "wait",
};

export const TOOL_EXAMPLE = {
  id: TOOL_ID,
  ...request,
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
  created_by: `key:${KEY_ID}`,
};

export const TOOL_EXAMPLES: OperationExamples = {
  createTool: {
    requests: {
      http: { summary: "A request to your server", value: request },
      client: {
        summary: "Something that your page does",
        value: {
          name: "show_product",
          description: "Shows a product to the visitor.",
          type: "client",
          parameters: [{ name: "product_id", required: true, schema: { type: "string" } }],
          wait: false,
        },
      },
      mcp: {
        summary: "The tools of an MCP server",
        value: {
          name: "shop",
          description: "The shop's tools.",
          type: "mcp",
          url: "https://mcp.shop.example/mcp",
          auth: { type: "bearer", secret: SECRET_NAME },
          tools: ["find_product", "reserve"],
        },
      },
    },
    response: { ...TOOL_EXAMPLE, signing_secret: SECRET },
  },
  listTools: { response: { tools: [TOOL_EXAMPLE], ...ONE_PAGE } },
  getTool: { response: TOOL_EXAMPLE },
  updateTool: {
    request: { timeout_ms: 5_000, result: null },
    response: { ...TOOL_EXAMPLE, timeout_ms: 5_000, result: null, updated_at: UPDATED_AT },
  },
  deleteTool: {
    response: { message: "Tool deleted", tool_id: TOOL_ID, name: NAME, deleted_at: UPDATED_AT },
  },
  importTools: {
    requests: {
      url: { summary: "An OpenAPI document", value: { url: "https://api.shop.example/openapi.json" } },
      curl: {
        summary: "A curl command",
        value: {
          curl: 'curl https://api.shop.example/orders -H \'Authorization: Bearer sk_live_51H8\' --json \'{"product":"lamp","count":2}\'',
        },
      },
    },
    response: {
      tools: [
        {
          name: "post_orders",
          description: "POST /orders of api.shop.example.",
          type: "http",
          method: "POST",
          url: "https://api.shop.example/orders",
          headers: {},
          auth: { type: "bearer", secret: "api_shop_example_token" },
          parameters: [
            { name: "product", in: "body", required: true, schema: { type: "string", examples: ["lamp"] } },
            { name: "count", in: "body", required: true, schema: { type: "integer", examples: [2] } },
          ],
        },
      ],
      problems: [],
    },
  },
  tryTool: {
    request: { arguments: { order_id: "A-1001" }, variables: { customer_id: "C-7" } },
    response: {
      request: {
        method: "GET",
        url: "https://api.shop.example/orders/A-1001?customer=C-7",
        headers: { accept: "application/json", authorization: "Bearer ********" },
        body: null,
      },
      status: 200,
      answer: '{"status":"shipped","delivery":"2026-02-02"}',
      duration_ms: 84,
      for_model: '{"status":"shipped","delivery":"2026-02-02"}',
      is_error: false,
      assignments: { order_status: "shipped" },
    },
  },
  acceptToolChanges: {
    response: {
      id: TOOL_ID,
      name: "shop",
      description: "The shop's tools.",
      type: "mcp",
      url: "https://mcp.shop.example/mcp",
      headers: {},
      auth: { type: "bearer", secret: SECRET_NAME },
      tools: ["find_product", "reserve"],
      on_change: "keep_if_schema_same",
      mcp_tools: [
        {
          name: "find_product",
          description: "Finds a product by its name.",
          input_schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
          state: "on",
        },
      ],
      problems: [{ name: "reserve", problem: "the server has no tool of this name" }],
      timeout_ms: 20_000,
      speech: { before: "auto", delayed: [] },
      interruption: "continue",
      run: "wait",
      created_at: CREATED_AT,
      updated_at: UPDATED_AT,
      created_by: `key:${KEY_ID}`,
    },
  },
  rotateToolSecret: {
    response: {
      ...TOOL_EXAMPLE,
      updated_at: UPDATED_AT,
      signing_secret: SECRET,
      old_secret_valid_until: "2026-02-01T09:31:00.000Z",
    },
  },
};
