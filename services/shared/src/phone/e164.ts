/** A phone number in E.164 form. */
export const E164 = /^\+[1-9]\d{6,14}$/;
