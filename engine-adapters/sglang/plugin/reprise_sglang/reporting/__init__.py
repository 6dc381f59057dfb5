"""What SGLang's prefix cache holds of each request, as it is reported to the proxy."""
