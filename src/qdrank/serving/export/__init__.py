"""Models of a study in the forms that search engines and model servers take."""
