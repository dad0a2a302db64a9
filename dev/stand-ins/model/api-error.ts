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
