/** Providers that call back. */
export type CallingBack = "twilio" | "plivo";

/**
 * Where a carrier calls back, which its signature covers.
 * @param publicUrl PARLEY_PUBLIC_URL
 * @param id of the carrier for incoming calls, of the call for outgoing ones
 */
export function callbackUrl(publicUrl: string, provider: CallingBack, id: string, event: string): string {
  return `${publicUrl.replace(/\/+$/, "")}/v1/carriers/${provider}/${id}/${event}`;
}

/** Where Daily sends the events of its rooms. @param connection car_…, or `operator` for the operator's own domain */
export function dailyWebhookUrl(publicUrl: string, connection: string): string {
  return `${publicUrl.replace(/\/+$/, "")}/v1/carriers/daily/${connection}`;
}
