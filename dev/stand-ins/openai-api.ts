import { isObject, type JsonObject } from "@parley/shared/json/json-object";

/** An error that the caller can act on; `render` gives it OpenAI's error shape. */
export class ApiError extends Error {
  constructor(
    readonly status: 400 | 404 | 405 | 503,
    message: string,
    readonly code: string,
    readonly param: string | null = null,
  ) {
    super(message);
  }
}

export function missing(param: string, remedy: string): ApiError {
  return new ApiError(400, `Missing required parameter: '${param}'. ${remedy}`, "missing_required_parameter", param);
}

export function invalid(param: string, remedy: string): ApiError {
  return new ApiError(400, `Invalid value for '${param}'. ${remedy}`, "invalid_value", param);
}

/** The HTTP response for anything thrown; shows no details of an unknown error. */
export function render(error: unknown): Response {
  if (!(error instanceof ApiError)) {
    const body = {
      message: "The stand-in failed on this request.",
      type: "server_error",
      param: null,
      code: null,
    };
    return Response.json({ error: body }, { status: 500 });
  }
  const { status, message, param, code } = error;
  return Response.json({ error: { message, type: "invalid_request_error", param, code } }, { status });
}

/** @throws ApiError 400 when the body is not one JSON object */
export async function readBody(request: Request): Promise<JsonObject> {
  const body: unknown = await request.json().catch(() => undefined);
  if (isObject(body)) return body;
  const detail = "The request body must be one JSON object; this one could not be parsed.";
  throw new ApiError(400, detail, "invalid_json");
}
