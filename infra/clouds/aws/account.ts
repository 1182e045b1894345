/** Stands for an account whose id is invalid, so that the other keys are still checked. AWS gives it to none. */
export const anyAccount = "000000000000";
